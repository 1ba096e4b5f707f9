import { syncBuiltinESMExports } from 'node:module'

/**
 * Takes signals from this process for good, before it loads code of the user. Node's permission model does not limit
 * signals, which could end the service, or open the debugger of any Node process.
 */
export const forbidSignals = (): void => {
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) {
    Object.defineProperty(process, name, { value: denied })
  }
  syncBuiltinESMExports()
}

const denied = (): never => {
  throw Object.assign(new Error('Access to signals has been restricted'), { code: 'ERR_ACCESS_DENIED' })
}
