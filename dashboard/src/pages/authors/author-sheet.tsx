import { useQuery } from '@tanstack/react-query'
import { isNotFound } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { QueryContent, Section } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { CalibrationPlot } from './calibration.tsx'
import { ContributionSections } from './contribution.tsx'

/** `?author=contributor:<id>` or `?author=producer:<name>` */
export const AuthorSheet = () => {
  const [author, setAuthor] = useUrlState('author')
  if (author === '') return null
  return <Sheet author={author} onClose={() => setAuthor('')} />
}

const Sheet = ({ author, onClose }: { readonly author: string; readonly onClose: () => void }) => {
  const query = useQuery(queries.contribution(author))
  return (
    <Dialog title="Author" form="sheet" onClose={onClose}>
      {isNotFound(query.error) ? (
        <Empty title="Not registered or removed">Its signals and outcomes stay in the log.</Empty>
      ) : (
        <QueryContent query={query} what="the author">
          {(contribution) => (
            <div className="grid gap-5">
              <div className="flex flex-wrap items-baseline justify-between gap-3">
                <h3 className="text-lg font-semibold">
                  <Untrusted text={contribution.name} />
                </h3>
                {contribution.kind === 'contributor' ? (
                  <PageLink to="/contributors" search={{ contributor: contribution.id }}>
                    Profile and score
                  </PageLink>
                ) : (
                  <PageLink to="/producers" search={{ producer: contribution.id }}>
                    Health and runs
                  </PageLink>
                )}
              </div>
              <ContributionSections contribution={contribution} />
              <Section title="Calibration of this author" hint="Hit rate compared with stated probability">
                <CalibrationPlot bins={contribution.calibration} />
              </Section>
            </div>
          )}
        </QueryContent>
      )}
    </Dialog>
  )
}
