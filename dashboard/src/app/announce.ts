import { createStore } from '../ui/store.ts'

/** Ways in which this browser announces items, in addition to the banner on every page. Off by default. */
export type Signal = 'notification' | 'sound'

const stored = (signal: Signal): boolean => localStorage.getItem(`announce-${signal}`) === 'on'

const settings = createStore<Readonly<Record<Signal, boolean>>>({
  notification: stored('notification'),
  sound: stored('sound'),
})

export const useSignals = settings.use

// Another tab of this browser changed it.
addEventListener('storage', () =>
  settings.set({ notification: stored('notification'), sound: stored('sound') }),
)

const set = (signal: Signal, isOn: boolean): void => {
  if (isOn) localStorage.setItem(`announce-${signal}`, 'on')
  else localStorage.removeItem(`announce-${signal}`)
  settings.set({ ...settings.get(), [signal]: isOn })
}

export const turnOff = (signal: Signal): void => set(signal, false)

/**
 * Turns a signal on. Must follow a click, because browsers ask and play only then. Returns what prevents it, or null.
 */
export const turnOn = async (signal: Signal): Promise<string | null> => {
  if (signal === 'sound') {
    set('sound', true)
    await beep()
    return null
  }
  // Browsers offer notifications only over HTTPS and on this machine.
  if (!('Notification' in globalThis)) return 'This browser offers no notifications at this address.'
  if ((await Notification.requestPermission()) !== 'granted')
    return 'The browser does not allow notifications here: change it in its settings for this site.'
  set('notification', true)
  return null
}

export interface Announcement {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** In one tab of the browser, however many are open. */
export const announce = async (announcement: Announcement): Promise<void> => {
  const { notification, sound } = settings.get()
  if (!notification && !sound) return
  await alone(announcement.id, async () => {
    if (notification) notify(announcement)
    if (sound) await beep()
  })
}

/** Long enough for every tab to receive the event. */
const HELD_MS = 5000

/** The first tab that gets the lock does it; the others leave it. Without locks every tab does. */
const alone = async (id: string, act: () => Promise<void>): Promise<void> => {
  if (!('locks' in navigator)) return act()
  await navigator.locks.request(`announce ${id}`, { ifAvailable: true }, async (lock) => {
    if (lock === null) return
    await act()
    await new Promise((resolve) => setTimeout(resolve, HELD_MS))
  })
}

const notify = ({ id, title, text }: Announcement): void => {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return
  const shown = new Notification(title, { body: text, tag: id })
  shown.addEventListener('click', () => {
    focus()
    shown.close()
  })
}

const TONE_HZ = 880
const TONE_SECONDS = 0.25

const beep = async (): Promise<void> => {
  const audio = new AudioContext()
  const tone = audio.createOscillator()
  const volume = audio.createGain()
  tone.frequency.value = TONE_HZ
  volume.gain.setValueAtTime(0.2, audio.currentTime)
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + TONE_SECONDS)
  tone.connect(volume).connect(audio.destination)
  tone.start()
  tone.stop(audio.currentTime + TONE_SECONDS)
  const ended = new Promise((resolve) => tone.addEventListener('ended', resolve))
  // A browser that plays nothing before the first click never ends it.
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1000))])
  await audio.close()
}
