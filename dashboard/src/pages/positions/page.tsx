import { useUrlState } from '../../app/use-url-state.ts'
import { ClosedPanel } from './closed-panel.tsx'
import { OpenPanel } from './open-panel.tsx'
import { PositionSheet } from './position-sheet.tsx'
import { SummaryPanel } from './summary-panel.tsx'

/** What is held, what it was worth to hold it, and why it was bought. */
export const Page = () => {
  const [position, setPosition] = useUrlState('position')
  return (
    <div className="grid gap-3">
      <SummaryPanel />
      <OpenPanel />
      <ClosedPanel />
      {position === '' ? null : (
        <PositionSheet key={position} id={position} onClose={() => setPosition('')} />
      )}
    </div>
  )
}
