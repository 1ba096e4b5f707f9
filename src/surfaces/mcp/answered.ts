import type { JsonObject } from '../../core/shared/json.ts'
import type { RpcError } from './json-rpc.ts'

/** What a method says, before it is put into the words of the caller's generation. */
export type Answered =
  | { readonly status: 'done'; readonly result: JsonObject; readonly effect: 'none' | 'read' | 'written' }
  | { readonly status: 'failed'; readonly error: RpcError }
