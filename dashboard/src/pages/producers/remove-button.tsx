import { confirm } from '../../app/confirm.tsx'
import { useAction } from '../../app/use-action.ts'
import { Button } from '../../ui/button.tsx'

interface RemoveButtonProps {
  readonly name: string
  readonly onRemoved: () => void
}

export const RemoveButton = ({ name, onRemoved }: RemoveButtonProps) => {
  const remove = useAction<void, { readonly removed: string }>({
    request: () => ({ path: `/producers/${encodeURIComponent(name)}`, method: 'DELETE' }),
    done: () => `${name} is removed`,
    after: onRemoved,
    refreshes: ['producers'],
  })
  const ask = async (): Promise<void> => {
    const answer = await confirm({
      title: 'Remove this producer?',
      text: `${name} is not asked for signals any more. What it said stays in the log.`,
      confirmLabel: 'Remove',
      look: 'danger',
    })
    if (answer !== null) remove.mutate()
  }
  return (
    <Button size="small" busy={remove.isPending} onClick={() => void ask()}>
      Remove
    </Button>
  )
}
