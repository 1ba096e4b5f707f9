import { type SyntheticEvent, useState, useSyncExternalStore } from 'react'
import { ApiError } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'

/** A question that one dialog of the shell asks, and whoever waits for the answer. */
interface Prompt<Question, Answer> {
  readonly ask: (question: Question) => Promise<Answer | null>
  readonly useQuestion: () => Question | null
  /** Null = never mind. */
  readonly answer: (answer: Answer | null) => void
}

export const createPrompt = <Question, Answer>(): Prompt<Question, Answer> => {
  let question: Question | null = null
  let resolve: ((answer: Answer | null) => void) | null = null
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  const answer = (given: Answer | null): void => {
    const waiting = resolve
    question = null
    resolve = null
    tell()
    waiting?.(given)
  }
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    ask: (next) => {
      // Only one question at a time: an older one is withdrawn.
      answer(null)
      question = next
      tell()
      return new Promise((settle) => {
        resolve = settle
      })
    },
    useQuestion: () => useSyncExternalStore(subscribe, () => question),
    answer,
  }
}

interface Confirmation {
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

const confirmPrompt = createPrompt<Confirmation, { readonly reason: string }>()

/** Asks the person; null if they would rather not. */
export const confirm = confirmPrompt.ask

export const ConfirmDialog = () => {
  const question = confirmPrompt.useQuestion()
  if (question === null) return null
  return (
    <Dialog title={question.title} description={question.text} onClose={() => confirmPrompt.answer(null)}>
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
    if (isReady) confirmPrompt.answer({ reason: reason.trim() })
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
        <Button onClick={() => confirmPrompt.answer(null)}>Cancel</Button>
        <Button type="submit" look={question.look ?? 'primary'} disabled={!isReady}>
          {question.confirmLabel}
        </Button>
      </div>
    </form>
  )
}

const operatorPrompt = createPrompt<{ readonly error: string | null }, string>()

export type OperatorHeaders = Readonly<Record<string, string>>

/**
 * Sends a request that may need the operator token: asks for the token when the service requires it, sends it with
 * that one request, and forgets it. Null if the user cancels.
 */
export const asOperator = async <Result,>(
  send: (headers: OperatorHeaders) => Promise<Result>,
): Promise<Result | null> => {
  let headers: OperatorHeaders = {}
  for (let hasToken = false; ; hasToken = true) {
    try {
      return await send(headers)
    } catch (error) {
      const isWrong = hasToken && hasStatus(error, 401)
      if (!isWrong && !(hasStatus(error, 403) && error.code === 'auth.forbidden')) throw error
      const token = await operatorPrompt.ask({ error: isWrong ? 'This is not the operator token' : null })
      if (token === null) return null
      // Percent-encoded: a browser sends only Latin-1 in a header.
      headers = { 'x-operator-token': encodeURIComponent(token) }
    }
  }
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status

export const OperatorDialog = () => {
  const question = operatorPrompt.useQuestion()
  if (question === null) return null
  return (
    <Dialog
      title="Operator token"
      description="This action needs api.operator_token. It is sent once and not kept."
      onClose={() => operatorPrompt.answer(null)}
    >
      <OperatorForm error={question.error} />
    </Dialog>
  )
}

const OperatorForm = ({ error }: { readonly error: string | null }) => {
  const [token, setToken] = useState('')
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (token.trim() !== '') operatorPrompt.answer(token.trim())
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Operator token"
        type="password"
        autoComplete="off"
        autoFocus
        value={token}
        error={error ?? undefined}
        onChange={(event) => setToken(event.target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={() => operatorPrompt.answer(null)}>Cancel</Button>
        <Button type="submit" look="primary" disabled={token.trim() === ''}>
          Go on
        </Button>
      </div>
    </form>
  )
}
