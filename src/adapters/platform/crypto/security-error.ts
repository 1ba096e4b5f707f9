/** Going on would put a secret at risk. The message names what the operator can set. */
export class SecurityError extends Error {
  override readonly name = 'SecurityError'
  constructor(detail: string) {
    super(`SECURITY ERROR: ${detail}`)
  }
}
