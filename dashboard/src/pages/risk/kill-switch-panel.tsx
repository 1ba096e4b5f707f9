import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { KillSwitchLevels } from '../../app/kill-switch.tsx'
import { QueryPanel } from '../../ui/panel.tsx'

export const KillSwitchPanel = () => {
  const query = useQuery(queries.killSwitch())
  return (
    <QueryPanel title="Kill switch" query={query}>
      {() => (
        <div className="grid gap-3">
          <KillSwitchLevels />
          <p className="text-xs text-muted">
            It rises by itself when a limit is reached, and falls only by hand. A restart does not change it.
          </p>
        </div>
      )}
    </QueryPanel>
  )
}
