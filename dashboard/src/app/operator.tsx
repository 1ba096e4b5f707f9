import { useState, type SyntheticEvent } from 'react'
import { ApiProblem } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { createPrompt } from './prompt.ts'

const prompt = createPrompt<{ readonly fault: string | null }, string>()

/**
 * Does something that may need the operator token: asks for it when the service says so, sends it with that one
 * request, and forgets it. Null if the person would rather not.
 */
export const asOperator = async <Result,>(
  act: (operatorToken: string | undefined) => Promise<Result>,
): Promise<Result | null> => {
  let operatorToken: string | undefined
  for (;;) {
    try {
      return await act(operatorToken)
    } catch (error) {
      const isWrong = operatorToken !== undefined && hasStatus(error, 401)
      if (!isWrong && !(hasStatus(error, 403) && error.code === 'auth.forbidden')) throw error
      const given = await prompt.ask({ fault: isWrong ? 'This is not the operator token' : null })
      if (given === null) return null
      operatorToken = given
    }
  }
}

const hasStatus = (error: unknown, status: number): error is ApiProblem =>
  error instanceof ApiProblem && error.status === status

export const OperatorDialog = () => {
  const question = prompt.useQuestion()
  if (question === null) return null
  return (
    <Dialog
      title="Operator token"
      description="This action needs api.operator_token. It is sent once and not kept."
      onClose={() => prompt.answer(null)}
    >
      <OperatorForm fault={question.fault} />
    </Dialog>
  )
}

const OperatorForm = ({ fault }: { readonly fault: string | null }) => {
  const [token, setToken] = useState('')
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (token.trim() !== '') prompt.answer(token.trim())
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Operator token"
        type="password"
        autoComplete="off"
        autoFocus
        value={token}
        fault={fault ?? undefined}
        onChange={(event) => setToken(event.target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={() => prompt.answer(null)}>Cancel</Button>
        <Button type="submit" look="primary" disabled={token.trim() === ''}>
          Go on
        </Button>
      </div>
    </form>
  )
}
