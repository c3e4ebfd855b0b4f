/** The shell: navigation, address, instant, search, and the screen of the address. */
import { type ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { lost, now } from '../connection.ts'
import { past, showAt } from '../instant.ts'
import { useKeys } from '../keys.ts'
import { unacknowledged } from '../open-alarms.ts'
import { Icon, Logo } from '../parts/icons.tsx'
import { Answer, Problem } from '../parts/layout.tsx'
import { Undo } from '../parts/undo.tsx'
import { go, path, to } from '../router.ts'
import { logOut, session } from '../session.ts'
import { zone } from '../settings.ts'
import { messageOf } from '../words/errors.ts'
import { clockText, dayText, timeText } from '../words/times.ts'
import { crumbNames } from './crumb-names.ts'
import { AllKeys, dialog, MorePlaces, Settings } from './dialogs.tsx'
import { Login } from './login.tsx'
import { ALL_PLACES, PLACES, type Place } from './places.ts'
import { Search } from './search.tsx'

type Screen = ComponentType

/** Screens by the first part of the path. Each is a file of its own that loads when it is shown first. */
const SCREENS: Readonly<Record<string, () => Promise<Screen>>> = {
  '': async () => (await import('../screens/overview.tsx')).Overview,
  alarms: async () => (await import('../screens/alarms.tsx')).Alarms,
  figures: async () => (await import('../screens/alarm-figures.tsx')).Figures,
  'on-call': async () => (await import('../screens/on-call.tsx')).OnCall,
  tasks: async () => (await import('../screens/tasks.tsx')).Tasks,
  resources: async () => (await import('../screens/resources.tsx')).Resources,
  data: async () => (await import('../screens/data.tsx')).Data,
  editor: async () => (await import('../editor/editor.tsx')).Editor,
  rehearsal: async () => (await import('../screens/rehearsal.tsx')).Rehearsals,
  rollouts: async () => (await import('../screens/rollouts.tsx')).Rollouts,
  operations: async () => (await import('../screens/operations.tsx')).Operations,
  connectors: async () => (await import('../screens/connectors.tsx')).Connectors,
}

export function App() {
  if (session.value === undefined) return null
  if (session.value === null) return <Login />
  return <Shell />
}

function Shell() {
  const place = ALL_PLACES.find((one) => one.path === (path.value[0] ?? ''))
  useKeys([
    ...ALL_PLACES.map(({ key, name, path }) => ({
      keys: `g ${key}`,
      does: `go to ${name}`,
      run: () => go(to(...path.split('/').filter(Boolean))),
    })),
    { keys: '?', does: 'list the keys', run: () => (dialog.value = 'keys') },
    { keys: 'Ctrl+K', does: 'search', run: () => (dialog.value = 'search') },
  ])
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
      >
        Skip to the content
      </a>
      <Sidebar />
      <header class="top">
        <nav aria-label="You are here">
          <Crumbs place={place} />
        </nav>
        <div class="top-end">
          <Instant />
          <button type="button" class="quiet wide" onClick={() => (dialog.value = 'search')}>
            <Icon name="search" /> Search <kbd>Ctrl K</kbd>
          </button>
          <button type="button" class="quiet square" aria-label="Settings" onClick={() => (dialog.value = 'settings')}>
            <Icon name="settings" />
          </button>
        </div>
      </header>
      <div>
        <LostConnection />
        <main id="main" tabIndex={-1}>
          <Current first={path.value[0] ?? ''} key={path.value[0] ?? ''} />
        </main>
      </div>
      <BottomBar />
      <Undo />
      {dialog.value === 'search' && <Search />}
      {dialog.value === 'keys' && <AllKeys />}
      {dialog.value === 'settings' && <Settings />}
      {dialog.value === 'places' && <MorePlaces />}
    </div>
  )
}

function hrefOf({ path }: Place): string {
  return to(...path.split('/').filter(Boolean))
}

function Count({ place }: { readonly place: Place }) {
  const count = place.path === 'alarms' ? unacknowledged.value.length : 0
  if (count === 0) return null
  return (
    <span class="count">
      {count}
      <span class="unseen"> unacknowledged</span>
    </span>
  )
}

function Sidebar() {
  const first = path.value[0] ?? ''
  const { user = '', tenant = '' } = session.value ?? {}
  return (
    <nav class="sidebar" aria-label="Screens">
      <a class="brand" href={to()}>
        <Logo /> Reflexarc
      </a>
      {PLACES.map(({ title, places }) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {places.map((place) => (
              <li key={place.path}>
                <a href={hrefOf(place)} aria-current={place.path === first ? 'page' : undefined}>
                  <Icon name={place.icon} /> {place.name}
                  <Count place={place} />
                  <span class="key" aria-hidden="true">
                    g {place.key}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div class="foot">
        <span>{tenant}</span>
        <span class="dim">{user}</span>
        <button type="button" class="quiet" onClick={() => void logOut()}>
          Log out
        </button>
      </div>
    </nav>
  )
}

function BottomBar() {
  const first = path.value[0] ?? ''
  return (
    <nav class="bottombar" aria-label="Main screens">
      {ALL_PLACES.filter(({ onPhone }) => onPhone).map((place) => (
        <a key={place.path} href={hrefOf(place)} aria-current={place.path === first ? 'page' : undefined}>
          <Icon name={place.icon} size={18} />
          {place.name}
          <Count place={place} />
        </a>
      ))}
      <button type="button" onClick={() => (dialog.value = 'places')}>
        <Icon name="more" size={18} />
        More
      </button>
    </nav>
  )
}

function Crumbs({ place }: { readonly place: Place | undefined }) {
  const parts = path.value.slice(1)
  if (place === undefined) return null
  return (
    <ol class="crumbs">
      <li>
        {parts.length === 0 ? <span aria-current="page">{place.name}</span> : <a href={hrefOf(place)}>{place.name}</a>}
      </li>
      {parts.map((_, index) => (
        <li key={index}>
          {index === parts.length - 1 ? (
            <span aria-current="page">{crumbNames.value.get(parts[index] ?? '') ?? parts[index]}</span>
          ) : (
            <a href={to(path.value[0] ?? '', ...parts.slice(0, index + 1))}>
              {crumbNames.value.get(parts[index] ?? '') ?? parts[index]}
            </a>
          )}
        </li>
      ))}
    </ol>
  )
}

function Instant() {
  const at = past.value
  const { value: broken } = lost
  if (at !== null) {
    return (
      <span class="instant past">
        <i /> Shown: {timeText(at, zone.value, now.value, true)}
        <button type="button" class="quiet small wide" onClick={() => showAt(null)}>
          Live
        </button>
      </span>
    )
  }
  if (broken !== null) {
    return (
      <span class="instant stale">
        <i /> Not live since {clockText(broken.since, zone.value)}
      </span>
    )
  }
  return (
    <span class="instant">
      <i /> Live <span class="wide">· {dayText(now.value, zone.value, now.value)}</span>{' '}
      {clockText(now.value, zone.value)}
    </span>
  )
}

function LostConnection() {
  const { value: broken } = lost
  if (broken === null) return null
  return (
    <div class="banner" role="alert">
      <Icon name="problem" />
      {broken.isBusy ? 'The host is busy, starting or stopping.' : 'Connection lost.'} Shown as of{' '}
      {clockText(broken.since, zone.value)};{' '}
      {broken.seconds > 0 ? `trying again in ${broken.seconds} s` : 'trying again'}
    </div>
  )
}

function Current({ first }: { readonly first: string }) {
  const [screen, setScreen] = useState<{ readonly show: Screen } | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const [thrown, reset] = useErrorBoundary() as [unknown, () => void]
  useEffect(() => {
    let isShown = true
    const load = SCREENS[first]
    load?.().then(
      (show) => isShown && setScreen({ show }),
      (error: unknown) => isShown && setProblem(messageOf(error)),
    )
    return () => void (isShown = false)
  }, [first])
  if (thrown !== undefined) {
    return (
      <>
        <Answer title="This screen has failed" more="The other screens still work." />
        <Problem text={messageOf(thrown)} retry={reset} />
      </>
    )
  }
  if (SCREENS[first] === undefined) {
    return (
      <Answer title="This page does not exist" more="The address may be mistyped, or what it led to was removed.">
        <a class="button" href={to()}>
          Overview
        </a>
      </Answer>
    )
  }
  if (problem !== undefined) return <Problem text={problem} retry={() => location.reload()} />
  return screen === undefined ? null : <screen.show />
}
