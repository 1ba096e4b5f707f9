import { useState, type SyntheticEvent } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { createPrompt } from './prompt.ts'

export interface Confirmation {
  readonly title: string
  /** What will happen, in one or two sentences. */
  readonly text: string
  readonly confirmLabel: string
  readonly look?: 'primary' | 'danger'
  /** Asks for a reason; the log keeps it. `suggestion` may be sent as it is. */
  readonly reason?: { readonly suggestion: string }
  /** Has to be typed, so that it is not done by accident. */
  readonly word?: string
}

const prompt = createPrompt<Confirmation, { readonly reason: string }>()

/** Asks the person; null if they would rather not. */
export const confirm = prompt.ask

export const ConfirmDialog = () => {
  const question = prompt.useQuestion()
  if (question === null) return null
  return (
    <Dialog title={question.title} description={question.text} onClose={() => prompt.answer(null)}>
      <ConfirmForm question={question} />
    </Dialog>
  )
}

const ConfirmForm = ({ question }: { readonly question: Confirmation }) => {
  const [reason, setReason] = useState(question.reason?.suggestion ?? '')
  const [word, setWord] = useState('')
  const isReady =
    (question.reason === undefined || reason.trim() !== '') &&
    (question.word === undefined || word.trim().toUpperCase() === question.word)
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (isReady) prompt.answer({ reason: reason.trim() })
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      {question.reason === undefined ? null : (
        <TextField
          label="Reason"
          hint="Stored in the log"
          value={reason}
          maxLength={500}
          onChange={(event) => setReason(event.target.value)}
        />
      )}
      {question.word === undefined ? null : (
        <TextField
          label={`Type ${question.word} to confirm`}
          value={word}
          autoComplete="off"
          onChange={(event) => setWord(event.target.value)}
        />
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={() => prompt.answer(null)}>Cancel</Button>
        <Button type="submit" look={question.look ?? 'primary'} disabled={!isReady}>
          {question.confirmLabel}
        </Button>
      </div>
    </form>
  )
}
