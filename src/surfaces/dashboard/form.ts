import type { IncomingMessage } from 'node:http'
import type { RefusalCode } from './answer.ts'

export type SignInForm =
  | { readonly status: 'read'; readonly form: 'page' | 'json'; readonly token: string; readonly next: string }
  | { readonly status: 'refused'; readonly code: RefusalCode; readonly detail: string }

/** What somebody signs in with: a form of a browser, or JSON of a program. */
export const readSignInForm = async (request: IncomingMessage, bytesMax: number): Promise<SignInForm> => {
  const contentType = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const text = await bodyOf(request, bytesMax)
  if (text === null) return refused('request.too_large', `The form is larger than ${bytesMax} bytes`)
  switch (contentType) {
    case 'application/x-www-form-urlencoded': {
      const fields = new URLSearchParams(text)
      const token = (fields.get('token') ?? '').trim()
      return { status: 'read', form: 'page', token, next: safePath(fields.get('next') ?? '/') }
    }
    case 'application/json':
      return readJson(text)
    default:
      return refused('request.unsupported_media_type', 'Send a form or JSON')
  }
}

/** Only a path of our own: a redirect elsewhere would be somebody else's. */
export const safePath = (next: string): string =>
  /^\/(?![/\\])[\w\-./~%?=&+*:,@]*$/.test(next) && !next.startsWith('/login') ? next : '/'

const readJson = (text: string): SignInForm => {
  try {
    const body = JSON.parse(text) as { readonly token?: unknown } | null
    const token = typeof body?.token === 'string' ? body.token.trim() : ''
    return { status: 'read', form: 'json', token, next: '/' }
  } catch {
    // Whatever it is, it is no JSON.
    return refused('request.malformed_json', 'The body is not JSON')
  }
}

const refused = (code: RefusalCode, detail: string): SignInForm => ({ status: 'refused', code, detail })

const bodyOf = async (request: IncomingMessage, bytesMax: number): Promise<string | null> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // Read on to the end, so that the answer is heard; what is too much is not kept.
    if (size <= bytesMax) chunks.push(chunk)
  }
  return size > bytesMax ? null : Buffer.concat(chunks).toString('utf8')
}
