import { InvalidArgumentError } from 'commander'

/** How many rows, for an option. */
export const parseLimitUpTo =
  (max: number) =>
  (text: string): number => {
    const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
    if (limit >= 1 && limit <= max) return limit
    throw new InvalidArgumentError(`It must be a number from 1 to ${max}.`)
  }
