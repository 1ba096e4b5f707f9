import { request } from 'node:http'
import { TOKEN, type RunningService, type Variables } from './service.ts'

export interface RawAnswer {
  readonly status: number | undefined
  readonly text: string
}

/** Exactly these bytes with exactly these headers, and the token: `fetch` adds and corrects. */
export const rawCall = (
  { baseUrl }: RunningService,
  path: string,
  headers: Variables,
  bytes: Buffer | string,
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { authorization: `Bearer ${TOKEN}`, ...headers } }
    const sent = request(`${baseUrl}${path}`, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode, text })).on('error', reject)
    })
    sent.on('error', reject).end(bytes)
  })
