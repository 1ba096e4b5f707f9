import type { Invocation } from './command.ts'
import { Failure } from './failure.ts'

/** Nothing happens unless the word is typed, or a script said --yes. */
export const confirm = async (
  { readAnswer }: Pick<Invocation, 'readAnswer'>,
  { yes, word, question }: { readonly yes: boolean; readonly word: string; readonly question: string },
): Promise<void> => {
  if (yes) return
  const typed = await readAnswer(`${question} Type "${word}" to confirm: `)
  if (typed.trim() === word) return
  throw new Failure('request.invalid', 'it was not confirmed, so nothing was done', {
    advice: `Type "${word}" when asked, or add --yes in scripts.`,
  })
}
