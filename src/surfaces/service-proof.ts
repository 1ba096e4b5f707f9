import { urlHost } from './own-host.ts'

/**
 * Text that a service signs with the key of its node. A command checks the signature before it sends its token, so that
 * only the service of its home receives it. The address is that of the connection, as each side sees it: a program in
 * between that forwards the request gets a signature for another address. No other text that the node signs begins so.
 */
export const serviceProofText = (nonce: string, address: string): string =>
  `signal-engine service proof v1\n${address}\n${nonce}\n`

export const SERVICE_PROOF_PATH = '/service/proof'

export const NONCE_BYTES = 32

/** Address of one end of a connection. An IPv4 address is written the same whichever family the socket has. */
export const connectionEnd = (address: string | undefined, port: number | undefined): string =>
  `${urlHost((address ?? '').replace(/^::ffff:(?=\d+\.)/i, ''))}:${port ?? 0}`
