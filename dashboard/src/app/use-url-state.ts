import { useNavigate, useSearch } from '@tanstack/react-router'

/** A filter or a selection that belongs into the address, so that it can be linked to and gone back from. */
export const useUrlState = (name: string, initial = ''): readonly [string, (value: string) => void] => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const navigate = useNavigate()
  const value = typeof search[name] === 'string' ? search[name] : initial
  const set = (next: string): void => {
    void navigate({
      to: '.',
      // From what the address is by then: several may change at the same moment.
      search: ((current: object) => ({ ...current, [name]: next === initial ? undefined : next })) as never,
      replace: true,
    })
  }
  return [value, set]
}
