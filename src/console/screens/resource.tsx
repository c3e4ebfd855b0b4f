/** One resource: its readings with the states of its rules, its attributes with their origin, the rules that read it. */
import { useMemo, useState } from 'preact/hooks'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { openAlarms } from '../open-alarms.ts'
import { Icon } from '../parts/icons.tsx'
import { Age, Answer, Heads, Panel, Problem, Scroll, Time, Waiting } from '../parts/layout.tsx'
import { MatchMark, Severity } from '../parts/marks.tsx'
import { SeriesPlot } from '../plot/series-plot.tsx'
import { readRule } from '../graph/rule-view.ts'
import { gapsOf } from '../plot/bands.ts'
import { lanesOf, measuredBy } from '../plot/rule-lanes.ts'
import { query, setQuery, to, withQuery } from '../router.ts'
import { api } from '../session.ts'
import { unitsOf } from '../words/units.ts'
import { countText, quantityText, valueText } from '../words/numbers.ts'
import { resourceAnswer } from '../words/resource.ts'
import { useCourse } from './task-course.ts'

const HOUR = 3_600_000
const MOST_LANES = 8
const RANGES = [
  ['1h', 'Last hour', HOUR],
  ['6h', 'Last 6 h', 6 * HOUR],
  ['24h', 'Last 24 h', 24 * HOUR],
  ['7d', 'Last week', 168 * HOUR],
] as const

export function Resource({ id }: { readonly id: string }) {
  const resource = useLoad(() => api.resources.resources.get(id), [id], 10_000)
  const latest = useLoad(() => api.broker.series.list(id), [id], 5_000).data ?? []
  const origins = useLoad(() => api.resources.resources.explain(id), [id]).data
  const parts = useLoad(() => api.resources.resources.children(id, { limit: 50 }), [id]).data
  const changes = useLoad(() => api.resources.resources.changes(id, { limit: 8 }), [id]).data
  const tasks = useLoad(
    () =>
      api.rules.tasks.list(
        { where: { resource: id }, hits: 50, startIndex: 0 },
        { format: 'simplified', withoutGraph: true },
      ),
    [id],
    10_000,
  ).data
  const alarms = (openAlarms.value ?? []).filter(({ source }) => source.id === id)
  const units = useMemo(() => unitsOf(origins?.find(({ attribute }) => attribute === 'metrics')?.value), [origins])
  if (resource.data === undefined) return <Waiting title={id} error={resource.error} retry={resource.reload} />
  const { resourceTypeId: type, parentId: parent } = resource.data.value
  return (
    <>
      <Answer
        title={resourceAnswer({ id, latest, alarms: alarms.length, now: now.value, units })}
        more={
          <>
            {typeof type === 'string' && (
              <>
                Of type <a href={withQuery(to('resources'), { type })}>{type}</a>.{' '}
              </>
            )}
            {typeof parent === 'string' && (
              <>
                Part of <a href={to('resources', parent)}>{parent}</a>.{' '}
              </>
            )}
            {countText(tasks?.total ?? 0, 'task')} {tasks?.total === 1 ? 'reads' : 'read'} it.
          </>
        }
      >
        <a class="button" href={withQuery(to('data'), { resource: id })}>
          Query
        </a>
        <a class="button" href={withQuery(to('rehearsal'), { resources: id })}>
          Rehearse on it
        </a>
      </Answer>
      <Problem text={resource.error} retry={resource.reload} />
      <div class="stack">
        <Readings
          id={id}
          metrics={latest.filter(({ value }) => typeof value === 'number').map(({ metric }) => metric)}
          reader={tasks?.values.find(({ status }) => status === 'running')?.ID}
        />
        <div class="split">
          <div class="stack">
            <Panel title="Attributes" aside={typeof type === 'string' ? `type ${type} → ${id}` : ''}>
              <Scroll label="Attributes">
                <table class="tight">
                  <Heads columns={['Attribute', 'Value', ['Comes from', 'hide-phone']]} />
                  <tbody>
                    {(origins ?? []).map(({ attribute, value, from, id: origin, hidden }) => (
                      <tr key={attribute}>
                        <td>
                          <code>{attribute}</code>
                        </td>
                        <td>
                          <span class="strong">
                            {attribute === 'lastMessageTimestamp' && typeof value === 'number' ? (
                              <Time at={value} withSeconds />
                            ) : (
                              <Value of={value} />
                            )}
                          </span>
                          {from === 'type' && <div class="dim show-phone">of the type {origin}</div>}
                          {hidden !== undefined && <div class="dim">not {valueText(hidden)} of the type</div>}
                        </td>
                        <td class="nowrap hide-phone">
                          <span class="levels" aria-hidden="true">
                            <i class={from === 'type' ? 'set' : ''} />
                            <i class={from === 'resource' ? 'set' : ''} />
                          </span>{' '}
                          {from === 'type' ? `type ${origin}` : origin}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Scroll>
            </Panel>
            <Panel
              title="Changes"
              aside={changes === undefined ? '' : `the last ${countText(changes.values.length, 'change')}`}
            >
              <ol class="history pad">
                {(changes?.values ?? []).map(({ time, userId, change }) => (
                  <li key={time}>
                    <Time at={Date.parse(time)} />
                    <span>
                      {change} by {userId}
                    </span>
                  </li>
                ))}
              </ol>
            </Panel>
          </div>
          <div class="stack">
            <Panel as="aside" title="Rules that read it" aside={String(tasks?.total ?? '')}>
              {tasks?.total === 0 && <p class="pad second">No task reads this resource.</p>}
              <ul class="items">
                {(tasks?.values ?? []).map(({ ID, name, status, template }) => (
                  <li key={ID} class="item">
                    <MatchMark match={status === 'running' ? 'match' : 'no match'} />
                    <div>
                      <div class="title">
                        <a href={to('tasks', ID)}>{name}</a>
                      </div>
                      <div class="sub">
                        {status}
                        {template !== undefined && `, by ${template}`}
                      </div>
                    </div>
                  </li>
                ))}
              </ul>
            </Panel>
            {(parts?.total ?? 0) > 0 && (
              <Panel as="aside" title="Parts" aside={String(parts?.total ?? '')}>
                <ul class="items">
                  {(parts?.values ?? []).map((part) => (
                    <li key={part.id} class="item">
                      <Icon name="resource" />
                      <a href={to('resources', part.id)}>{part.id}</a>
                    </li>
                  ))}
                </ul>
              </Panel>
            )}
            {alarms.length > 0 && (
              <Panel as="aside" title="Alarms" aside={`${alarms.length} active`}>
                <ul class="items">
                  {alarms.map((alarm) => (
                    <li key={alarm.id} class="item">
                      <Severity of={alarm.severity} isQuiet={alarm.status !== 'ACTIVE'} />
                      <div>
                        <div class="title">
                          <a href={to('alarms', alarm.id)}>{alarm.text}</a>
                        </div>
                        <div class="sub">
                          for <Age at={Date.parse(alarm.creationTime)} />
                        </div>
                      </div>
                    </li>
                  ))}
                </ul>
              </Panel>
            )}
            <Panel as="aside" title="Latest values">
              <dl class="facts pad">
                {latest.map(({ metric, value, time }) => (
                  <>
                    <dt>
                      <code>{metric}</code>
                    </dt>
                    <dd>
                      <span class="strong">{quantityText(value, units.get(metric))}</span>{' '}
                      <span class="dim">
                        <Age at={Math.min(time, now.value)} /> ago
                      </span>
                    </dd>
                  </>
                ))}
              </dl>
              {latest.length === 0 && <p class="pad second">No reading is stored.</p>}
            </Panel>
          </div>
        </div>
      </div>
    </>
  )
}

/** Lists and objects have one line for each item. */
function Value({ of: value }: { readonly of: unknown }) {
  if (typeof value !== 'object' || value === null) return <>{valueText(value)}</>
  const lines = Array.isArray(value)
    ? value.map((item: unknown) =>
        typeof item === 'object' && item !== null
          ? Object.entries(item)
              .map(([name, one]) => `${name} ${valueText(one)}`)
              .join(', ')
          : valueText(item),
      )
    : Object.entries(value).map(([name, one]) => `${name}: ${valueText(one)}`)
  return (
    <>
      {lines.map((line, index) => (
        <div key={index}>{line}</div>
      ))}
    </>
  )
}

interface ReadingsProps {
  readonly id: string
  readonly metrics: readonly string[]
  /** a task whose states are shown below the plot */
  readonly reader: string | undefined
}

function Readings({ id, metrics, reader }: ReadingsProps) {
  const asked = query.value.get('range') ?? '24h'
  const [name, , length] = RANGES.find(([one]) => one === asked) ?? RANGES[2]
  const wanted = query.value.get('metric')
  const task = useLoad(
    async () => (reader === undefined ? undefined : api.rules.tasks.get(reader, { format: 'simplified' })),
    [reader],
  ).data
  const network = JSON.stringify(task?.network)
  const rule = useMemo(() => readRule(task?.network), [network])
  const measured = rule.nodes.flatMap((node) => measuredBy(node) ?? []).filter((one) => metrics.includes(one.metric))
  const metric = wanted !== null && metrics.includes(wanted) ? wanted : (measured[0]?.metric ?? metrics[0])
  const limits = measured.flatMap((one) => (one.metric === metric && one.limit !== undefined ? [one.limit] : []))
  const [zoom, setZoom] = useState<{ readonly from: number; readonly until: number } | undefined>()
  const step = Math.max(5_000, length / 200)
  const end = Math.ceil(now.value / step) * step
  const { from, until } = zoom ?? { from: end - length, until: end }
  const course = useCourse(task, from, until)
  const lanes = useMemo(() => lanesOf(rule, course?.bands).slice(0, MOST_LANES), [rule, course])
  const { data: points = [], error } = useLoad(async () => {
    if (metric === undefined) return []
    const { series } = await api.broker.series.get(id, metric, { from, until, grouping: 'auto' })
    return series.flatMap(([time, value]) =>
      typeof time === 'number' && typeof value === 'number' ? [[time, value] as const] : [],
    )
  }, [id, metric, from, until])
  return (
    <Panel
      title="Readings"
      aside={
        <div class="row" role="group" aria-label="Range">
          <select
            aria-label="Metric"
            class="small"
            value={metric}
            onChange={({ currentTarget: { value } }) => setQuery({ metric: value })}
          >
            {metrics.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          {RANGES.map(([one, title]) => (
            <button
              type="button"
              class="small"
              key={one}
              aria-pressed={zoom === undefined && name === one}
              onClick={() => (setZoom(undefined), setQuery({ range: one }))}
            >
              {title}
            </button>
          ))}
        </div>
      }
    >
      <div class="pad">
        <Problem text={error} />
        {metric === undefined ? (
          <p class="second">No number is stored for this resource.</p>
        ) : (
          <SeriesPlot
            label={`${metric} of ${id}`}
            from={from}
            until={until}
            series={[{ name: metric, points }]}
            limits={limits.map((value) => ({ value, name: `limit ${value}`, color: 'text-2', isDashed: true }))}
            gaps={gapsOf(points.map(([time]) => time))}
            bands={course === undefined ? [] : lanes}
            onZoom={(start, stop) => setZoom({ from: start, until: stop })}
          />
        )}
        {task !== undefined && course !== undefined && (
          <p class="dim">
            States of <a href={to('tasks', task.ID)}>{task.name}</a> over the stored data
            {course.error === undefined ? '' : ` could not be computed: ${course.error}`}.
          </p>
        )}
        {zoom !== undefined && <p class="dim">Zoomed in; a button above shows a whole range again.</p>}
      </div>
    </Panel>
  )
}
