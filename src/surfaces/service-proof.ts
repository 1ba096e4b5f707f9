import { urlHost } from './own-host.ts'

/**
 * What a service signs with the key of its node, so that a command sends its token to the service of its own home only.
 * The address is that of the connection itself, as each side sees it: a service in between that passes the question on
 * gets a signature for another address. No other text that the node signs begins like this.
 */
export const serviceProofText = (nonce: string, address: string): string =>
  `signal-engine service proof v1\n${address}\n${nonce}\n`

export const SERVICE_PROOF_PATH = '/service/proof'

export const NONCE_BYTES = 32

/** One end of a connection. An IPv4 address is written the same whichever family the socket has. */
export const connectionEnd = (address: string | undefined, port: number | undefined): string =>
  `${urlHost((address ?? '').replace(/^::ffff:(?=\d+\.)/i, ''))}:${port ?? 0}`
