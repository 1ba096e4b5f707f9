import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { Command, LogOut, Menu, Moon, Sun, SunMoon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { AttentionBanner, CountBadge, useAnnouncements, useAttention } from './attention.tsx'
import { LiveFrame } from './live-frame.tsx'
import { cx } from '../ui/cx.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Toasts } from '../ui/toast.tsx'
import { CommandPalette } from './command-palette.tsx'
import { ConnectionBadge, ConnectionBanner, CurrentRegime, signOut } from './connection.tsx'
import { KillSwitchChip, KillSwitchDialog, openKillSwitch } from './kill-switch.tsx'
import { type PageEntry, PAGES } from './navigation.ts'
import { ConfirmDialog, OperatorDialog } from './prompts.tsx'
import { switchTheme, useTheme } from './theme.ts'
import { useKeyboard } from './use-keyboard.ts'

type Overlay = 'none' | 'palette' | 'help' | 'more'

export const Shell = () => {
  const [overlay, setOverlay] = useState<Overlay>('none')
  const navigate = useNavigate()
  const page = usePage()
  const close = (): void => setOverlay('none')
  useKeyboard({
    'mod+k': () => setOverlay('palette'),
    '?': () => setOverlay('help'),
    k: openKillSwitch,
    ...Object.fromEntries(PAGES.map(({ key, path }) => [`g ${key}`, () => void navigate({ to: path })])),
  })
  const { total } = useAttention()
  useEffect(() => {
    document.title = `${total === 0 ? '' : `(${total}) `}${page.label} – Signal Engine`
  }, [page.label, total])
  useAnnouncements()
  return (
    <div className="grid min-h-dvh grid-cols-1 md:grid-cols-[13rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-panel focus:p-2"
      >
        Skip to the content
      </a>
      <SideBar />
      <div className="flex min-w-0 flex-col pb-16 md:pb-0">
        <header className="sticky top-0 z-30 border-b border-line bg-panel">
          <LiveFrame />
          <div className="flex h-12 items-center gap-2 px-3 md:px-4">
            <h1 className="mr-auto truncate text-base font-semibold">{page.label}</h1>
            <ConnectionBadge />
            <CurrentRegime />
            <div className="max-md:hidden">
              <KillSwitchChip />
            </div>
            <Button
              look="quiet"
              size="icon"
              aria-label="Commands"
              title="Commands (Ctrl K)"
              className="max-md:hidden"
              onClick={() => setOverlay('palette')}
            >
              <Command className="size-4" aria-hidden />
            </Button>
          </div>
          <ConnectionBanner />
          <AttentionBanner />
        </header>
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 p-3 outline-none md:p-4">
          <Outlet />
        </main>
      </div>
      <BottomBar onMore={() => setOverlay('more')} />
      {overlay === 'palette' ? <CommandPalette onClose={close} /> : null}
      {overlay === 'help' ? <HelpDialog onClose={close} /> : null}
      {overlay === 'more' ? <MorePages onClose={close} /> : null}
      <KillSwitchDialog />
      <ConfirmDialog />
      <OperatorDialog />
      <Toasts />
    </div>
  )
}

const usePage = (): PageEntry => {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const found = PAGES.findLast((page) => path === page.path || path.startsWith(`${page.path}/`))
  return found ?? { path, label: 'Not found', icon: Menu, key: '' }
}

const linkClass =
  'flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm text-muted hover:bg-raised hover:text-text data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent'

const SideBar = () => {
  const attention = useAttention()
  return (
    <nav
      aria-label="Pages"
      className="sticky top-0 flex h-dvh flex-col gap-0.5 border-r border-line bg-panel p-2 max-md:hidden"
    >
      <div className="flex h-10 items-center gap-2 px-2 pb-2 font-semibold">
        <img src="/favicon.svg" alt="" width={22} height={22} /> Signal Engine
      </div>
      {PAGES.map(({ path, label, icon: Icon }) => (
        <Link key={path} to={path} activeOptions={{ exact: path === '/' }} className={linkClass}>
          <Icon className="size-4" aria-hidden /> <span className="mr-auto">{label}</span>
          <CountBadge count={attention[path] ?? 0} />
        </Link>
      ))}
      <div className="mt-auto grid gap-0.5">
        <ThemeButton />
        <button type="button" className={linkClass} onClick={signOut}>
          <LogOut className="size-4" aria-hidden /> Sign out
        </button>
      </div>
    </nav>
  )
}

const ThemeButton = () => {
  const theme = useTheme()
  const Icon = { system: SunMoon, light: Sun, dark: Moon }[theme]
  return (
    <button type="button" className={linkClass} onClick={switchTheme}>
      <Icon className="size-4" aria-hidden /> Theme: {theme}
    </button>
  )
}

/** The main pages, everything else, and the kill switch in the middle. */
const BottomBar = ({ onMore }: { readonly onMore: () => void }) => {
  const { total } = useAttention()
  const primary = PAGES.filter(({ isPrimary }) => isPrimary === true)
  const item =
    'flex flex-col items-center gap-0.5 rounded-md px-1 py-1.5 text-[11px] text-muted data-[status=active]:text-accent'
  const link = ({ path, label, icon: Icon }: PageEntry) => (
    <Link key={path} to={path} activeOptions={{ exact: path === '/' }} className={item}>
      <Icon className="size-5" aria-hidden /> {label}
    </Link>
  )
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-30 grid grid-cols-5 items-center border-t border-line bg-panel px-1 pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {primary.slice(0, 2).map(link)}
      <div className="flex justify-center py-1">
        <KillSwitchChip isLarge />
      </div>
      {primary.slice(2).map(link)}
      <button type="button" className={cx(item, 'relative')} onClick={onMore}>
        <Menu className="size-5" aria-hidden /> More
        <span className="absolute top-0.5 left-1/2 ml-1">
          <CountBadge count={total} />
        </span>
      </button>
    </nav>
  )
}

const MorePages = ({ onClose }: { readonly onClose: () => void }) => {
  const attention = useAttention()
  return (
    <Dialog title="Pages" onClose={onClose}>
      <nav aria-label="All pages" className="grid grid-cols-2 gap-1">
        {PAGES.map(({ path, label, icon: Icon }) => (
          <Link
            key={path}
            to={path}
            activeOptions={{ exact: path === '/' }}
            className={`${linkClass} min-h-11`}
            onClick={onClose}
          >
            <Icon className="size-4" aria-hidden /> <span className="mr-auto">{label}</span>
            <CountBadge count={attention[path] ?? 0} />
          </Link>
        ))}
        <ThemeButton />
        <button type="button" className={`${linkClass} min-h-11`} onClick={signOut}>
          <LogOut className="size-4" aria-hidden /> Sign out
        </button>
      </nav>
    </Dialog>
  )
}

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'Commands'],
  ['?', 'This help'],
  ['k', 'Kill switch'],
  ...PAGES.map(({ key, label }) => [`g ${key}`, label] as const),
  ['↑ ↓', 'From row to row of a list; Enter opens it'],
  ['Esc', 'Close what is open'],
]

const HelpDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard" onClose={onClose}>
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
      {KEYS.map(([keys, what]) => (
        <div key={keys} className="contents">
          <dt>
            <kbd className="rounded border border-line bg-raised px-1.5 py-0.5">{keys}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
