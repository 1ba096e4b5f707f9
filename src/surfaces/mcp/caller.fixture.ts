import type { Called, TestServer } from '../http/test-server.fixture.ts'
import { CAPABILITIES_MEMBER, REVISION_MEMBER } from './protocol.ts'

type Headers = Readonly<Record<string, string>>

/** Metadata that a caller of revision 2026-07-28 sends in every request. */
export const MODERN_META = { [REVISION_MEMBER]: '2026-07-28', [CAPABILITIES_MEMBER]: {} }

export const modernHeaders = (method: string, name?: string): Headers => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
})

/** Callers of a running server, by generation. */
export const callersOf = (server: TestServer) => {
  const post = (json: unknown, headers: Headers = {}): Promise<Called> =>
    server.call('POST', '/mcp', { json, headers })
  const call = (method: string, params?: object, headers: Headers = {}): Promise<Called> =>
    post({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) }, headers)
  const modern = (method: string, params: object = {}, headers: Headers = {}): Promise<Called> => {
    const name = 'name' in params && typeof params.name === 'string' ? params.name : undefined
    return call(method, { _meta: MODERN_META, ...params }, { ...modernHeaders(method, name), ...headers })
  }
  const tool = async (name: string, args?: object, headers: Headers = {}): Promise<ToolAnswer> => {
    const params = { name, ...(args === undefined ? {} : { arguments: args }) }
    return (await call('tools/call', params, headers)).body
  }
  return { post, call, modern, tool }
}

export interface ToolAnswer {
  readonly result?: {
    readonly content: readonly { readonly type: string; readonly text: string }[]
    readonly structuredContent: Readonly<Record<string, unknown>>
    readonly isError: boolean
  }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** The result of a call that succeeded, with its text parsed. */
export const resultOf = ({ result, error }: ToolAnswer) => {
  if (result === undefined) throw new Error(`no result: ${JSON.stringify(error)}`)
  return { ...result, value: JSON.parse(result.content[0]?.text ?? '') as unknown }
}
