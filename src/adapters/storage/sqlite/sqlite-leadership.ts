import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Leadership } from '../../../ports/leadership.ts'
import { isBusyError } from './database.ts'

/**
 * A lock that the operating system holds for this process, on a file beside the log: whatever ends the process frees
 * it, and no clock has to be right.
 */
export const sqliteLeadership = ({ path }: { readonly path: string }): Leadership => ({
  tryToLead: async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await (await open(`${path}.leader`, 'a', 0o600)).close()
    const db = new DatabaseSync(`${path}.leader`, { timeout: 0 })
    try {
      db.exec('BEGIN EXCLUSIVE')
    } catch (error) {
      db.close()
      if (isBusyError(error)) return null
      throw error
    }
    const over = new AbortController()
    const ended = new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve())
    })
    return {
      ended,
      release: () => {
        if (db.isOpen) db.close()
        over.abort()
        return ended
      },
    }
  },
})
