/** Search: screens, tasks, templates, resources and alarms by their names. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { openAlarms } from '../open-alarms.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { go, to, withQuery } from '../router.ts'
import { api } from '../session.ts'
import { dialog } from './dialogs.tsx'
import { ALL_PLACES } from './places.ts'

interface Found {
  readonly icon: IconName
  readonly name: string
  readonly what: string
  readonly href: string
}

const MOST = 8

async function find(text: string): Promise<readonly Found[]> {
  const wanted = text.toLowerCase()
  const places = ALL_PLACES.filter(({ name }) => name.toLowerCase().includes(wanted)).map(
    ({ name, path, icon }): Found => ({ icon, name, what: 'screen', href: to(...path.split('/').filter(Boolean)) }),
  )
  if (text === '') return places
  const pattern = `*${text}*`
  const [tasks, templates, resources] = await Promise.allSettled([
    api.rules.tasks.list(
      { where: { filter: text }, hits: MOST, startIndex: 0 },
      { format: 'simplified', withoutGraph: true },
    ),
    api.rules.templates.list({
      where: { name: pattern },
      hits: MOST,
      startIndex: 0,
      format: 'simplified',
      includeGraph: false,
    }),
    api.resources.resources.list({ filter: text, limit: MOST }),
  ])
  const found: Found[] = []
  if (tasks.status === 'fulfilled')
    for (const { ID, name, resource } of tasks.value.values)
      found.push({ icon: 'task', name, what: resource ?? 'task', href: to('tasks', ID) })
  if (resources.status === 'fulfilled')
    for (const { id, resourceTypeId } of resources.value.values)
      found.push({
        icon: 'resource',
        name: id,
        what: typeof resourceTypeId === 'string' ? resourceTypeId : 'resource',
        href: to('resources', id),
      })
  if (templates.status === 'fulfilled')
    for (const { name } of templates.value.values)
      found.push({ icon: 'template', name, what: 'template', href: withQuery(to('editor'), { template: name }) })
  const alarms = (openAlarms.value ?? []).filter((one) => one.text.toLowerCase().includes(wanted))
  for (const { id, text: name } of alarms.slice(0, MOST))
    found.push({ icon: 'alarm', name, what: 'alarm', href: to('alarms', id) })
  return [...places, ...found]
}

export function Search() {
  const element = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly Found[]>([])
  const [chosen, setChosen] = useState(0)
  useEffect(() => element.current?.showModal(), [])
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      void find(text.trim()).then((list) => {
        if (!isCurrent) return
        setFound(list)
        setChosen(0)
      })
    }, 120)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text])
  const close = (): void => void (dialog.value = undefined)
  const open = (one: Found | undefined): void => {
    if (one === undefined) return
    close()
    go(one.href)
  }
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setChosen((chosen + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') open(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={element}
      class="search"
      aria-label="Search"
      onClose={close}
      onClick={(event) => event.target === element.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${chosen}` : undefined}
        aria-label="Search for tasks, resources, templates and alarms"
        placeholder="Search for tasks, resources, templates and alarms"
        autoFocus
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={move}
      />
      <div role="listbox" id="found" aria-label="Found">
        {found.map((one, index) => (
          <div
            key={one.href}
            id={`found-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(one)}
          >
            <Icon name={one.icon} />
            <span>{one.name}</span>
            <span class="dim">{one.what}</span>
          </div>
        ))}
      </div>
      <p>{text !== '' && found.length === 0 ? `Nothing is called like “${text}”.` : 'Enter opens, Escape closes'}</p>
    </dialog>
  )
}
