import type { Command } from 'commander'
import { nearest } from '../../core/config/keys.ts'
import { UsageError } from './failure.ts'

/** For a default command: every word that is no command ends up there, and deserves a better answer than silence. */
export const refuseUnknownWord = ({ args, parent }: Command): void => {
  const [word] = args
  if (word === undefined) return
  const meant = nearest(word, parent?.commands.map((command) => command.name()) ?? [])
  throw new UsageError(`unknown command '${word}'${meant === null ? '' : ` (Did you mean ${meant}?)`}`)
}
