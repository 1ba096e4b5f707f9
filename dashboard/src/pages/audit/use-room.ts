import { useSyncExternalStore } from 'react'

const ROOM_PX_MIN = 300

const subscribe = (listener: () => void): (() => void) => {
  addEventListener('resize', listener)
  return () => removeEventListener('resize', listener)
}

/** What is left of the height of the window beside `takenPx`: for lists that fill the page. */
export const useRoomPx = (takenPx: number): number =>
  useSyncExternalStore(subscribe, () => Math.max(ROOM_PX_MIN, innerHeight - takenPx))
