/** Looks in the environment, then in the vault. Throws SecretMissingError when neither has it. */
export interface Secrets {
  get(name: string): Promise<string>
}

export class SecretMissingError extends Error {
  override readonly name = 'SecretMissingError'
}
