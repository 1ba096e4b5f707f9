import { Agent, request as httpRequest, type ClientRequest } from 'node:http'

/** A line to the API. */
export interface ApiLine {
  readonly url: URL
  readonly agent: Agent
}

export const openApiLine = (apiUrl: string): ApiLine => {
  const url = new URL(apiUrl)
  // Listening everywhere is no address to call.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return { url, agent: new Agent({ keepAlive: true }) }
}

export interface ApiCall {
  readonly method: string
  /** With the prefix. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export const callApi = ({ url, agent }: ApiLine, { method, path, headers }: ApiCall): ClientRequest =>
  httpRequest({ host: url.hostname.replaceAll(/[[\]]/g, ''), port: url.port, agent, method, path, headers })

export type TokenJudgement = 'good' | 'bad' | 'unclear'

/** What the API itself says to a token: any endpoint that asks for one will do. */
export const judgeToken = (line: ApiLine, token: string, timeoutMs: number): Promise<TokenJudgement> =>
  new Promise((resolve) => {
    const path = `${line.url.pathname}/brain/status`
    const headers = { authorization: `Bearer ${Buffer.from(token, 'utf8').toString('latin1')}` }
    const call = callApi(line, { method: 'GET', path, headers })
    call.setTimeout(timeoutMs, () => call.destroy(new Error('the API does not answer')))
    call.on('error', () => resolve('unclear'))
    call.on('response', (answer) => {
      answer.resume()
      if (answer.statusCode === 200) resolve('good')
      else resolve(answer.statusCode === 401 ? 'bad' : 'unclear')
    })
    call.end()
  })
