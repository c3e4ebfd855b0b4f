/** Holds the address: its path below the console, and its query. Each state of a screen has an address. */
import { computed, signal } from '@preact/signals'
import { CONSOLE } from './base.ts'

const address = signal(location.href)

/** Parts of the path below the console, decoded. */
export const path = computed<readonly string[]>(() => {
  const { pathname } = new URL(address.value)
  return pathname.slice(CONSOLE.length).split('/').filter(Boolean).map(decoded)
})

export const query = computed(() => new URL(address.value).searchParams)

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the address of a screen, such as `to('tasks', id)`. */
export function to(...parts: readonly string[]): string {
  return CONSOLE + parts.map(encodeURIComponent).join('/')
}

export function withQuery(target: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) parameters.set(name, String(value))
  return parameters.size === 0 ? target : `${target}?${parameters.toString()}`
}

export function go(target: string): void {
  history.pushState(null, '', target)
  address.value = location.href
  document.querySelector('main')?.scrollTo(0, 0)
  scrollTo(0, 0)
}

/** Changes the query of the present screen without a new entry in the history. */
export function setQuery(values: Readonly<Record<string, string | number | undefined>>): void {
  const url = new URL(address.value)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, String(value))
  }
  if (url.href === address.value) return
  history.replaceState(null, '', url)
  address.value = url.href
}

/** Removes the fragment, which may contain a one-time code. */
export function dropFragment(): string {
  const { hash, pathname, search } = location
  if (hash !== '') history.replaceState(null, '', pathname + search)
  address.value = location.href
  return hash
}

export function startRouter(): void {
  addEventListener('popstate', () => (address.value = location.href))
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (link === null || !isPlain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download'))
      return
    const url = new URL(link.href, location.href)
    if (url.origin !== location.origin || !url.pathname.startsWith(CONSOLE)) return
    event.preventDefault()
    go(url.pathname + url.search)
  })
}
