import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { DataAge, QueryContent } from '../../ui/panel.tsx'
import { ConfigurationForm } from './configuration-form.tsx'

/** Everything that can be configured, as the service itself describes it. */
export const Page = () => {
  const configuration = useQuery(queries.config())
  const form = useQuery(queries.configForm())
  return (
    <QueryContent query={form} what="what can be configured">
      {(described) => (
        <QueryContent query={configuration} what="the configuration">
          {(values) => (
            <ConfigurationForm
              form={described}
              configuration={values}
              age={<DataAge query={configuration} />}
            />
          )}
        </QueryContent>
      )}
    </QueryContent>
  )
}
