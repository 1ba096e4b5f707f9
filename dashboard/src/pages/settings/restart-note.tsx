/** What was saved and does not count yet. */
export const RestartNote = ({ keys }: { readonly keys: readonly string[] }) =>
  keys.length === 0 ? null : (
    <p role="status" className="rounded-lg bg-warn-soft px-3 py-2 text-[13px] text-warn">
      Saved. Restart the service so that these count: <code className="break-words">{keys.join(', ')}</code>
    </p>
  )
