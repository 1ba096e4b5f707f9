import { useNavigate, useSearch } from '@tanstack/react-router'

/** A filter or a selection in the address, so that links and the back button work. */
export const useUrlState = (name: string, initial = ''): readonly [string, (value: string) => void] => {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const navigate = useNavigate()
  const value = typeof search[name] === 'string' ? search[name] : initial
  const set = (next: string): void => {
    void navigate({
      to: '.',
      // Based on the latest address: several parameters may change at once.
      search: ((current: object) => ({ ...current, [name]: next === initial ? undefined : next })) as never,
      replace: true,
    })
  }
  return [value, set]
}
