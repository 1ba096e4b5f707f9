import type { Session } from '../api/log.ts'
import { pause } from './pause.ts'

const CHECK_MS = 2000

/**
 * Waits until somebody has signed in again, in whatever tab. The service is asked, not the API: a token that is not good
 * any more is not tried again and again.
 */
export const nextSession = async (): Promise<void> => {
  const over = await readSession()
  for (;;) {
    await pause(CHECK_MS)
    const session = await readSession()
    if (session?.signed_in === true && session.expires_at !== (over?.expires_at ?? null)) return
  }
}

const readSession = async (): Promise<Session | null> => {
  try {
    return (await (await fetch('/session')).json()) as Session
  } catch {
    // Nobody answers: as good as nobody signed in, until it does.
    return null
  }
}
