/** Dialogs of the shell: settings, keys, and the other screens on a phone. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { activeKeys } from '../keys.ts'
import { Icon } from '../parts/icons.tsx'
import { to } from '../router.ts'
import { logOut } from '../session.ts'
import { letterKeys, theme, VIEWER_ZONE, zone, zoneSetting } from '../settings.ts'
import { isZone } from '../words/times.ts'
import { ALL_PLACES } from './places.ts'

export const dialog = signal<'search' | 'keys' | 'settings' | 'places' | undefined>(undefined)

export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet square" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  )
}

const close = (): void => void (dialog.value = undefined)

export function AllKeys() {
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keylist">
        {activeKeys().map(({ keys, does }) => (
          <>
            <dt>
              {keys.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  )
}

const THEMES = ['system', 'light', 'dark'] as const

export function Settings() {
  const [other, setOther] = useState(zoneSetting.value === 'viewer' ? '' : zoneSetting.value)
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const isWrong = other !== '' && !isZone(other)
  return (
    <Dialog title="Settings" onClose={close}>
      <div class="settings">
        <div role="group" aria-label="Theme">
          <h3>Theme</h3>
          <div class="segments">
            {THEMES.map((one) => (
              <button type="button" key={one} aria-pressed={theme.value === one} onClick={() => (theme.value = one)}>
                {one === 'system' ? 'As the system' : one === 'light' ? 'Light' : 'Dark'}
              </button>
            ))}
          </div>
        </div>
        <div>
          <h3>Time zone</h3>
          <label>
            All times on the screens are in this zone; empty: that of this device, {VIEWER_ZONE}
            <input
              list="zones"
              value={other}
              placeholder={VIEWER_ZONE}
              aria-invalid={isWrong}
              onInput={({ currentTarget: { value } }) => {
                setOther(value)
                if (value === '') zoneSetting.value = 'viewer'
                else if (isZone(value)) zoneSetting.value = value
              }}
            />
          </label>
          <datalist id="zones">
            {zones.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <p class="second">
            {isWrong ? `${other} is not a time zone; write one such as Europe/Brussels` : `Now in use: ${zone.value}`}
          </p>
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={letterKeys.value === 'on'}
            onChange={({ currentTarget }) => (letterKeys.value = currentTarget.checked ? 'on' : 'off')}
          />
          Single letters are keys; <kbd>?</kbd> lists them
        </label>
      </div>
    </Dialog>
  )
}

export function MorePlaces() {
  return (
    <Dialog title="Screens" onClose={close}>
      <ul class="items">
        {ALL_PLACES.filter(({ onPhone }) => !onPhone).map(({ path, name, icon }) => (
          <li key={path}>
            <a class="item" href={to(path)} onClick={close}>
              <Icon name={icon} /> {name}
            </a>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" onClick={() => (dialog.value = 'search')}>
          <Icon name="search" /> Search
        </button>
        <button type="button" onClick={() => (close(), void logOut())}>
          Log out
        </button>
      </div>
    </Dialog>
  )
}
