/** The resources: a list by type, or one of them. */
import { useState } from 'preact/hooks'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { openAlarms } from '../open-alarms.ts'
import { Age, Answer, Empty, Heads, Pager, Panel, Problem, Scroll } from '../parts/layout.tsx'
import { lazyScreen } from '../parts/lazy.tsx'
import { path, query, setQuery, to } from '../router.ts'
import { api } from '../session.ts'
import { countText } from '../words/numbers.ts'
import { resourcesAnswer, treeOf } from '../words/resource.ts'

const Resource = lazyScreen(async () => (await import('./resource.tsx')).Resource)
const PAGE = 100
const SILENT = 15 * 60_000

export function Resources() {
  const [, id] = path.value
  return id === undefined ? <ResourceList /> : <Resource id={id} key={id} />
}

function ResourceList() {
  const filter = query.value.get('filter') ?? ''
  const type = query.value.get('type') ?? ''
  const [skip, setSkip] = useState(0)
  const types = useLoad(() => api.resources.types.list({ limit: 200 }), []).data?.values ?? []
  const { data, error, reload } = useLoad(
    () =>
      api.resources.resources.list({
        limit: PAGE,
        skip,
        ...(filter !== '' && { filter }),
        ...(type !== '' && { resourceTypeId: type }),
      }),
    [filter, type, skip],
    10_000,
  )
  const values = data?.values ?? []
  const total = data?.total ?? 0
  const silent = values.filter(
    ({ lastMessageTimestamp: last }) => typeof last === 'number' && now.value - last > SILENT,
  ).length
  const alarms = new Map<string, number>()
  for (const { source } of openAlarms.value ?? []) alarms.set(source.id, (alarms.get(source.id) ?? 0) + 1)
  return (
    <>
      <Answer
        title={data === undefined ? 'Resources' : resourcesAnswer(total, silent, filter + type)}
        more="A resource is a thing that sends readings: a machine, a room, a vehicle. Unknown ones are created with their first message."
      />
      <Problem text={error} retry={reload} />
      <div class="browse">
        <nav class="panel types" aria-label="Types">
          <button
            type="button"
            class="quiet"
            aria-pressed={type === ''}
            onClick={() => (setSkip(0), setQuery({ type: undefined }))}
          >
            All types
          </button>
          {types.map(({ id }) => (
            <button
              type="button"
              class="quiet"
              key={id}
              aria-pressed={type === id}
              onClick={() => (setSkip(0), setQuery({ type: id }))}
            >
              {id}
            </button>
          ))}
        </nav>
        <Panel
          title={type === '' ? 'All resources' : `Of type ${type}`}
          aside={data === undefined ? '' : countText(total, 'resource')}
        >
          <div class="filter">
            <input
              type="search"
              aria-label="Filter by id, name or tags"
              placeholder="Id, name or tag"
              value={filter}
              onInput={({ currentTarget: { value } }) => (
                setSkip(0),
                setQuery({ filter: value === '' ? undefined : value })
              )}
            />
          </div>
          {data !== undefined && values.length === 0 ? (
            <Empty title={filter + type === '' ? 'No resource yet' : 'No resource matches'}>
              <p>
                {filter + type === ''
                  ? 'Post a reading to /resources/<id>/events, and the resource appears here.'
                  : 'Shorten the filter, or choose another type.'}
              </p>
            </Empty>
          ) : (
            <Scroll label="Resources">
              <table class="tight">
                <Heads columns={['Resource', ['Type', 'hide-phone'], 'Alarms', ['Last message', 'num']]} />
                <tbody>
                  {treeOf(values).map(({ one: { id, name, resourceTypeId, lastMessageTimestamp: last }, depth }) => (
                    <tr key={id}>
                      <td>
                        <span class={`depth-${Math.min(depth, 5)}`}>
                          {depth > 0 && <span class="unseen">part of the one above: </span>}
                          <a href={to('resources', id)}>{id}</a>
                        </span>
                        {typeof name === 'string' && name !== id && <span class="dim"> {name}</span>}
                      </td>
                      <td class="hide-phone">
                        {typeof resourceTypeId === 'string' ? resourceTypeId : <span class="dim">none</span>}
                      </td>
                      <td>
                        {alarms.has(id) ? (
                          <span class="bad strong">{alarms.get(id)} active</span>
                        ) : (
                          <span class="dim">none</span>
                        )}
                      </td>
                      <td class="num nowrap">
                        {typeof last === 'number' ? (
                          <span class={now.value - last > SILENT ? 'dim' : ''}>
                            <Age at={Math.min(last, now.value)} /> ago
                          </span>
                        ) : (
                          <span class="dim">never</span>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
          <Pager start={skip} page={PAGE} total={total} turn={setSkip} />
        </Panel>
      </div>
    </>
  )
}
