import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { createStore } from '../ui/store.ts'
import { Form } from './forms.tsx'

/** A question that one dialog of the shell asks. `ask` resolves with the answer, or null if the user cancels. */
export const createPrompt = <Question, Answer>() => {
  const question = createStore<Question | null>(null)
  let resolve: ((answer: Answer | null) => void) | null = null
  const answer = (given: Answer | null): void => {
    const settle = resolve
    resolve = null
    question.set(null)
    settle?.(given)
  }
  const ask = (next: Question): Promise<Answer | null> => {
    // One question at a time: a new one cancels the older one.
    answer(null)
    question.set(next)
    return new Promise((settle) => {
      resolve = settle
    })
  }
  return { ask, answer, useQuestion: question.use }
}

export interface Confirmation {
  readonly title: string
  /** Consequences of the action, in one or two sentences. */
  readonly text: string
  readonly confirmLabel: string
  readonly look?: 'primary' | 'danger'
  /** Asks for a reason, which is stored in the log. */
  readonly reason?: { readonly suggestion: string }
  /** Word that the user must type, so that nothing happens by accident. */
  readonly word?: string
}

const confirmPrompt = createPrompt<Confirmation, { readonly reason: string }>()

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
  return (
    <Form
      submitLabel={question.confirmLabel}
      look={question.look ?? 'primary'}
      isReady={isReady}
      onSubmit={() => confirmPrompt.answer({ reason: reason.trim() })}
      onCancel={() => confirmPrompt.answer(null)}
    >
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
    </Form>
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
      description="This action needs api.operator_token. It is sent once and not stored."
      onClose={() => operatorPrompt.answer(null)}
    >
      <OperatorForm error={question.error} />
    </Dialog>
  )
}

const OperatorForm = ({ error }: { readonly error: string | null }) => {
  const [token, setToken] = useState('')
  return (
    <Form
      submitLabel="Continue"
      isReady={token.trim() !== ''}
      onSubmit={() => operatorPrompt.answer(token.trim())}
      onCancel={() => operatorPrompt.answer(null)}
    >
      <TextField
        label="Operator token"
        type="password"
        autoComplete="off"
        autoFocus
        value={token}
        error={error ?? undefined}
        onChange={(event) => setToken(event.target.value)}
      />
    </Form>
  )
}
