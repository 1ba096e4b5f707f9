import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useUrlState } from '../../app/use-url-state.ts'
import { Button } from '../../ui/button.tsx'
import { FeedPanel } from './feed-panel.tsx'
import { SignalSheet } from './signal-sheet.tsx'
import { SubmitDialog } from './submit-dialog.tsx'

/** Everything that is said about the market, who says it, and what becomes of it. */
export const Page = () => {
  const [signal, setSignal] = useUrlState('signal')
  const [isSubmitting, setIsSubmitting] = useState(false)
  return (
    <>
      <FeedPanel
        actions={
          <Button size="small" look="primary" onClick={() => setIsSubmitting(true)}>
            <Plus className="size-3.5" aria-hidden /> Submit a signal
          </Button>
        }
      />
      {signal === '' ? null : <SignalSheet key={signal} id={signal} onClose={() => setSignal('')} />}
      {isSubmitting ? (
        <SubmitDialog
          onClose={() => setIsSubmitting(false)}
          onDone={(id) => {
            setIsSubmitting(false)
            setSignal(id)
          }}
        />
      ) : null}
    </>
  )
}
