/** The user's settings in this browser: theme, time zone, single-letter keys. */
import { computed, effect, signal, type Signal } from '@preact/signals'
import { isZone } from './words/times.ts'

function stored(name: string, initial: string): Signal<string> {
  const key = `reflexarc.${name}`
  let first: string | null = null
  try {
    first = localStorage.getItem(key)
  } catch {
    // storage may be switched off: settings last as long as the page
  }
  const setting = signal(first ?? initial)
  effect(() => {
    try {
      localStorage.setItem(key, setting.value)
    } catch {
      // as above
    }
  })
  return setting
}

export const theme = stored('theme', 'system')
/** `viewer`, or the name of a zone */
export const zoneSetting = stored('zone', 'viewer')
/** `on` or `off` */
export const letterKeys = stored('keys', 'on')

export const VIEWER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Name of the time zone of all times on the screen. */
export const zone = computed(() => {
  const { value } = zoneSetting
  return value !== 'viewer' && isZone(value) ? value : VIEWER_ZONE
})

export const isDark = signal(false)

export function applyTheme(): void {
  const preference = matchMedia('(prefers-color-scheme: dark)')
  const apply = (): void => {
    isDark.value = theme.value === 'dark' || (theme.value === 'system' && preference.matches)
    document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light'
  }
  preference.addEventListener('change', apply)
  effect(apply)
}
