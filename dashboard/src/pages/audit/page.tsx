import { useUrlState } from '../../app/use-url-state.ts'
import { ExplorerPanel } from './explorer-panel.tsx'
import { RecordSheet } from './record-sheet.tsx'
import { VerifyPanel } from './verify-panel.tsx'

/** What was written, by whom, why, and whether it still stands as it was written. */
export const Page = () => {
  const [event, setEvent] = useUrlState('event')
  return (
    <div className="grid gap-3">
      <VerifyPanel />
      <ExplorerPanel />
      {event === '' ? null : <RecordSheet id={event} onClose={() => setEvent('')} />}
    </div>
  )
}
