/** Search: screens, tasks, templates, resources and alarms by their names. */
import { openAlarms } from '../open-alarms.ts'
import { type Option, Picker } from '../parts/picker.tsx'
import { go, to, withQuery } from '../router.ts'
import { api } from '../session.ts'
import { dialog } from './dialogs.tsx'
import { ALL_PLACES } from './places.ts'

const MOST = 8

async function find(text: string): Promise<readonly Option[]> {
  const wanted = text.toLowerCase()
  const places = ALL_PLACES.filter(({ name }) => name.toLowerCase().includes(wanted)).map(
    ({ name, path, icon }): Option => ({ icon, name, what: 'screen', key: to(...path.split('/').filter(Boolean)) }),
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
  const found: Option[] = []
  if (tasks.status === 'fulfilled')
    for (const { ID, name, resource } of tasks.value.values)
      found.push({ icon: 'task', name, what: resource ?? 'task', key: to('tasks', ID) })
  if (resources.status === 'fulfilled')
    for (const { id, resourceTypeId } of resources.value.values)
      found.push({
        icon: 'resource',
        name: id,
        what: typeof resourceTypeId === 'string' ? resourceTypeId : 'resource',
        key: to('resources', id),
      })
  if (templates.status === 'fulfilled')
    for (const { name } of templates.value.values)
      found.push({ icon: 'template', name, what: 'template', key: withQuery(to('editor'), { template: name }) })
  const alarms = (openAlarms.value ?? []).filter((one) => one.text.toLowerCase().includes(wanted))
  for (const { id, text: name } of alarms.slice(0, MOST))
    found.push({ icon: 'alarm', name, what: 'alarm', key: to('alarms', id) })
  return [...places, ...found]
}

export function Search() {
  return (
    <Picker
      label="Search for tasks, resources, templates and alarms"
      find={find}
      choose={({ key }) => go(key)}
      onClose={() => (dialog.value = undefined)}
    />
  )
}
