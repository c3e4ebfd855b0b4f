/** Offers to undo the last action, for eight seconds and by `z`, and to copy its request. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useKeys } from '../keys.ts'
import { type SentWrite, takeLastWrite } from '../session.ts'
import { CopyRequest } from './copy.tsx'

interface Done {
  readonly text: string
  readonly request?: SentWrite
  undo?(): void
}

const last = signal<Done | null>(null)
const SHOWN = 8_000

/** States what was done, and offers to undo it. */
export function done(text: string, undo?: () => void): void {
  const request = takeLastWrite()
  last.value = { text, ...(undo && { undo }), ...(request && { request }) }
}

export function Undo() {
  const shown = last.value
  const undo = (): void => {
    const { value } = last
    last.value = null
    value?.undo?.()
  }
  useKeys([{ keys: 'z', does: 'undo the last action', run: undo }])
  useEffect(() => {
    if (shown === null) return
    const timer = setTimeout(() => (last.value = null), SHOWN)
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <div role="status">
      {shown !== null && (
        <div class="undo">
          <span>{shown.text}</span>
          {shown.undo !== undefined && (
            <button type="button" onClick={undo}>
              Undo
            </button>
          )}
          {shown.request !== undefined && <CopyRequest {...shown.request} done={done} />}
        </div>
      )}
    </div>
  )
}
