/** Keys of the console. A screen adds its own while it is shown. */
import { useEffect, useRef } from 'preact/hooks'
import { signal } from '@preact/signals'
import { letterKeys } from './settings.ts'

export interface KeyAction {
  /** as pressed: `j`, `?`, `g a`, `Ctrl+K` */
  readonly keys: string
  readonly does: string
  run(): void
}

interface KeySet {
  current: readonly KeyAction[]
}

const sets = signal<readonly KeySet[]>([])

export function activeKeys(): readonly KeyAction[] {
  return sets.value.flatMap(({ current }) => current)
}

/** Adds keys while the component is shown. A key pressed right after a change acts on the latest render. */
export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    sets.value = [...sets.value, latest]
    return () => void (sets.value = sets.value.filter((one) => one !== latest))
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.shadowRoot !== null) &&
    !(target instanceof HTMLInputElement && /^(?:range|checkbox)$/.test(target.type))
  )
}

/** How long a prefix such as `g` waits for the next letter, in ms */
const PATIENCE = 1_500

export function startKeys(): void {
  let before = ''
  let at = 0
  addEventListener('keydown', (event) => {
    const isChord = event.ctrlKey || event.metaKey
    if (event.altKey || event.isComposing || event.key === 'Shift') return
    if (!isChord && (letterKeys.value === 'off' || isTyping(event.target))) return
    if (document.querySelector('dialog[open]') !== null) return
    const pressed = isChord ? `Ctrl+${event.shiftKey ? 'Shift+' : ''}${event.key.toUpperCase()}` : event.key
    const isFresh = event.timeStamp - at < PATIENCE
    const wanted = before !== '' && isFresh ? [`${before} ${pressed}`, pressed] : [pressed]
    // the newest set comes first: a screen may take over a key
    const actions = activeKeys().toReversed()
    const action = wanted.map((keys) => actions.find((one) => one.keys === keys)).find((one) => one !== undefined)
    before = action === undefined && actions.some(({ keys }) => keys.startsWith(`${pressed} `)) ? pressed : ''
    at = event.timeStamp
    if (action === undefined) return
    event.preventDefault()
    action.run()
  })
}
