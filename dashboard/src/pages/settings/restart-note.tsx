/** What was saved and does not count yet; the service says so until it is started again. */
export const RestartNote = ({ keys }: { readonly keys: readonly string[] }) =>
  keys.length === 0 ? null : (
    <p role="status" className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
      Restart the service so that what was saved counts:{' '}
      <code className="wrap-anywhere">{keys.join(', ')}</code>. Until then it works with the old values.
    </p>
  )
