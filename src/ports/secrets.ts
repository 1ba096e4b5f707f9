/** Environment, then vault, then (reserved) the keyring. Throws SecretMissingError when none has it. */
export interface Secrets {
  get(name: string): Promise<string>
}

export class SecretMissingError extends Error {
  override readonly name = 'SecretMissingError'
}
