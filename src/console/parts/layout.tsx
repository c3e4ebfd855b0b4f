/** The frame of all screens: the answer, panels, empty states, errors, times. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { now } from '../connection.ts'
import { zone } from '../settings.ts'
import { lengthText, timeText } from '../words/times.ts'
import { Icon } from './icons.tsx'

type Children = { readonly children?: ComponentChildren }

/** The heading of a screen answers its question; the second line states the consequence. */
export function Answer({
  title,
  more,
  children,
}: Children & { readonly title: string; readonly more?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Reflexarc`
  }, [title])
  return (
    <div class="answer">
      <div>
        <h1>{title}</h1>
        {more !== undefined && more !== '' && <p>{more}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  )
}

export function Panel({
  title,
  aside,
  children,
  as: Element = 'section',
}: Children & {
  readonly title: ComponentChildren
  readonly aside?: ComponentChildren
  readonly as?: 'section' | 'aside'
}) {
  const id = useId()
  return (
    <Element class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="aside">{aside}</div>}
      </header>
      {children}
    </Element>
  )
}

export function Empty({ title, children }: Children & { readonly title: string }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  )
}

/** What went wrong, and what to do. */
export function Problem({ text, retry }: { readonly text: string | undefined; readonly retry?: () => void }) {
  if (text === undefined) return null
  return (
    <div class="problem-box" role="alert">
      <Icon name="problem" />
      <div>{text}</div>
      {retry !== undefined && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** While nothing has been loaded: an error, or nothing for the moment that loading takes. */
export function Waiting({
  error,
  retry,
  title,
}: {
  readonly error: string | undefined
  readonly retry: () => void
  readonly title: string
}) {
  if (error === undefined) return <Answer title={title} more=" " />
  return (
    <>
      <Answer title={title} />
      <Problem text={error} retry={retry} />
    </>
  )
}

export function Time({ at, withSeconds = false }: { readonly at: number; readonly withSeconds?: boolean }) {
  return <time dateTime={new Date(at).toISOString()}>{timeText(at, zone.value, now.value, withSeconds)}</time>
}

export function Age({ at }: { readonly at: number }) {
  const moment = new Date(at)
  return (
    <time dateTime={moment.toISOString()} title={timeText(at, zone.value, now.value, true)}>
      {lengthText(now.value - at)}
    </time>
  )
}

/** A part of a table that scrolls sideways by itself, reachable by keyboard. */
export function Scroll({ label, children }: Children & { readonly label: string }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      {children}
    </div>
  )
}

/** The heads of a table's columns: texts, or texts with classes. */
export function Heads({
  columns,
}: {
  readonly columns: readonly (string | readonly [text: string, classes: string])[]
}) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const [text, classes] = typeof column === 'string' ? [column] : column
          return (
            <th key={text} scope="col" class={classes}>
              {text}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

/** Moves through the pages of a long list. `start`: rows before the page. */
export function Pager({
  start,
  page,
  total,
  turn,
}: {
  readonly start: number
  readonly page: number
  readonly total: number
  readonly turn: (start: number) => void
}) {
  if (total <= page) return null
  return (
    <div class="more">
      <span>
        {start + 1} to {Math.min(start + page, total)} of {total.toLocaleString('en')}
      </span>
      <span class="row">
        <button type="button" class="small" disabled={start === 0} onClick={() => turn(Math.max(0, start - page))}>
          Previous
        </button>
        <button type="button" class="small" disabled={start + page >= total} onClick={() => turn(start + page)}>
          Next
        </button>
      </span>
    </div>
  )
}
