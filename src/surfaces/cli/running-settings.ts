import { isJsonObject } from '../../core/shared/json-object.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Invocation } from './command.ts'
import { settingsOf } from './configuration.ts'
import { sendToOwnService } from './own-service.ts'

/** Settings of the running service of this home, or why they are not known. */
export type RunningSettings =
  | { readonly status: 'known'; readonly values: JsonObject }
  | { readonly status: 'not-running' }
  | { readonly status: 'unknown'; readonly reason: string }

/** Asks the service of this home, after its proof that it belongs to this home. Never rejects. */
export const runningSettings = async (invocation: Invocation): Promise<RunningSettings> => {
  try {
    const service = await invocation.findService()
    if (service === null) return { status: 'not-running' }
    const { public_key: publicKey } = await invocation.identity.describe()
    const { api } = await settingsOf(invocation)
    const named = invocation.environment['SVC_API_TOKEN']?.trim() ?? ''
    const token = named === '' ? api.auth_token : named
    const { status, text } = await sendToOwnService(
      { baseUrl: service.baseUrl.replace(/\/+$/, ''), publicKey, signatures: invocation.signatures },
      {
        method: 'GET',
        path: '/config?values=running',
        headers: token === '' ? {} : { authorization: `Bearer ${token}` },
        body: '',
      },
      TIMEOUT_MS,
    )
    const values: unknown = status === 200 ? JSON.parse(text) : null
    return isJsonObject(values)
      ? { status: 'known', values }
      : { status: 'unknown', reason: `the service answered ${status}` }
  } catch (error) {
    return { status: 'unknown', reason: error instanceof Error ? error.message : String(error) }
  }
}

const TIMEOUT_MS = 5000
