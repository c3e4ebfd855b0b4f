/** Runs a rehearsal, and shows its coverage, its firings, and what another value of a property would change. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { Rehearsal, RehearsalRequest } from '#services/rules/contract'
import { useLoad } from '../loading.ts'
import { CopyRequest } from '../parts/copy.tsx'
import { Answer, Heads, Panel, Problem, Scroll, Time } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { SeriesPlot } from '../plot/series-plot.tsx'
import { rehearse } from '../rehearse.ts'
import { query, setQuery, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import { countText, valueText } from '../words/numbers.ts'
import {
  differenceText,
  knobName,
  knobsOf,
  movedText,
  loadText,
  perDayText,
  rehearsalAnswer,
  turned,
  valuesAround,
} from '../words/rehearsal.ts'
import { Coverage } from './rehearsal-coverage.tsx'

export interface Subject {
  readonly kind: 'task' | 'template'
  readonly id: string
  readonly name: string
  readonly rule: Readonly<Record<string, unknown>>
  readonly revision: number
  readonly resource: string | undefined
  /** of a task made from it */
  readonly template: string | undefined
}

const DAY = 86_400_000
/** ms of a drag before the host compares both versions */
const SETTLED = 250

export interface RunProps {
  readonly subject: Subject
  readonly resources: string
  readonly from: string
  readonly controls: JSX.Element
}

function resourcesOf(text: string): NonNullable<RehearsalRequest['resources']> {
  if (text.startsWith('type:')) return { resourceTypeId: text.slice(5).trim() }
  return text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
}

interface Run {
  readonly answer?: Rehearsal
  readonly progress?: number
  readonly error?: string
}

/** Runs the request whenever it changes; an answer stands until the next one. `key` undefined: nothing to run. */
function useRun(key: string | undefined, request: RehearsalRequest): Run {
  const [run, setRun] = useState<Run>({})
  useEffect(() => {
    if (key === undefined) {
      setRun({})
      return undefined
    }
    const ending = new AbortController()
    const timer = setTimeout(() => {
      setRun(({ answer }) => ({ ...(answer && { answer }), progress: 0 }))
      rehearse(request, ending.signal, (progress) =>
        setRun(({ answer }) => ({ ...(answer && { answer }), progress })),
      ).then(
        (answer) => !ending.signal.aborted && setRun({ answer }),
        (thrown: unknown) => !ending.signal.aborted && setRun({ error: messageOf(thrown) }),
      )
    }, SETTLED)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [key])
  return run
}

export function RehearsalRun({ subject, resources, from, controls }: RunProps) {
  const knobs = useMemo(() => knobsOf(subject.rule), [subject])
  const asked = query.value.get('knob')
  const knob = knobs.find(({ path }) => path === asked) ?? knobs[0]
  const value = query.value.has('value') ? Number(query.value.get('value')) : knob?.value
  const isDraft = knob !== undefined && value !== undefined && value !== knob.value
  const common = { resources: resourcesOf(resources), source: { from } }
  const side = subject.kind === 'task' ? { task: subject.id } : { template: subject.id }
  const id = JSON.stringify([side, resources, from, subject.revision])
  const base: RehearsalRequest = {
    ...side,
    ...common,
    ...(knob && { sweep: { [knob.path]: valuesAround(knob.value, value) } }),
  }
  const now = useRun(`${id} ${knob?.path}`, base)
  const rule = isDraft ? turned(subject.rule, knob.path, value) : subject.rule
  const compared: RehearsalRequest = {
    rule: ruleOnly(rule),
    ...common,
    compareWith: { rule: ruleOnly(subject.rule) },
    settings: { type: 'reactive' },
  }
  const draft = useRun(isDraft ? `${id} ${knob.path} ${value}` : undefined, compared)
  const { answer } = now
  const { coverage, sweep = [] } = answer ?? {}
  const days = coverage === undefined ? 1 : (coverage.until - coverage.from) / DAY
  const row = knob && sweep.find(({ values }) => values[knob.path] === value)
  const facts = answer?.counts &&
    coverage && {
      ...coverage.resources,
      firingsNow: answer.counts.firings,
      firingsDraft: isDraft ? (row?.firings ?? draft.answer?.counts?.firings) : undefined,
      days,
    }
  const counts = draft.answer?.comparison?.counts
  const shown = isDraft ? draft.answer : answer
  return (
    <>
      <Answer
        title={facts === undefined ? 'Rehearsing …' : rehearsalAnswer(facts)}
        more={`${subject.name}${coverage === undefined ? '' : `, over ${countText(coverage.messages, 'message')}`}. ${counts === undefined ? '' : `${differenceText(counts)}. `}Nothing was called or sent.`}
      >
        <CopyRequest method="POST" path="/api/rehearsals" body={isDraft ? compared : base} done={done} />
        {isDraft && <Save subject={subject} rule={rule} />}
      </Answer>
      <Problem text={now.error ?? draft.error} />
      <div class="stack">
        {controls}
        {now.progress !== undefined && <progress aria-label="Progress of the rehearsal" value={now.progress} max={1} />}
        {answer !== undefined && <Coverage answer={answer} />}
        {answer !== undefined && (
          <Panel
            title={isDraft ? 'Firings of both versions' : 'Firings'}
            aside={
              <span class="legend">
                <span class="tag quiet">A now</span>
                {isDraft && <span class="tag b">B draft</span>}
                <span>
                  <i class="hatch-swatch" /> no data
                </span>
              </span>
            }
          >
            <div class="pad stack">
              {shown?.alarms !== undefined && loadText(shown.alarms) !== '' && (
                <p class="second">
                  {isDraft ? 'The draft raises' : 'The rule raises'} {loadText(shown.alarms)}{' '}
                  <a href={to('figures')}>Alarms of all rules</a>
                </p>
              )}
              {knob !== undefined && value !== undefined && (
                <Slider
                  name={knobName(knob.path, subject.rule)}
                  values={valuesAround(knob.value, value)}
                  value={value}
                  now={knob.value}
                  text={
                    row === undefined
                      ? undefined
                      : `${perDayText(row.firings, days)}, ${countText(row.alarms, 'alarm')}`
                  }
                  isBusy={draft.progress !== undefined}
                  choices={knobs.map(({ path }) => [path, knobName(path, subject.rule)] as const)}
                  path={knob.path}
                />
              )}
              <Firings
                answer={answer}
                draft={isDraft ? draft.answer : undefined}
                limits={limitsOf(knob?.path, knob?.value, isDraft ? value : undefined)}
              />
            </div>
          </Panel>
        )}
        <div class="halves">
          {sweep.length > 0 && knob !== undefined && (
            <Panel title={`Firings a day by ${knobName(knob.path, subject.rule)}`} aside={`${sweep.length} values`}>
              <SweepTable
                rows={sweep.map(({ values, firings, alarms }) => ({
                  value: Number(values[knob.path]),
                  firings,
                  alarms,
                }))}
                days={days}
                chosen={value}
                now={knob.value}
              />
            </Panel>
          )}
          {draft.answer?.comparison !== undefined && <Differences comparison={draft.answer.comparison} />}
          {draft.answer === undefined && answer?.firings !== undefined && (
            <FiringList answer={answer} subject={subject} />
          )}
        </div>
      </div>
    </>
  )
}

const PARTS = ['sensors', 'relations', 'actuators', 'triggers', 'variables'] as const

function ruleOnly(rule: Subject['rule']): NonNullable<RehearsalRequest['rule']> {
  const kept = Object.fromEntries(PARTS.flatMap((name) => (rule[name] === undefined ? [] : [[name, rule[name]]])))
  return kept
}

function limitsOf(path: string | undefined, now: number | undefined, draft: number | undefined) {
  if (path === undefined || now === undefined || !/threshold|limit|bound/i.test(path)) return []
  const a = { value: now, name: `A ${valueText(now)}`, color: 'version-a', isDashed: true }
  return draft === undefined
    ? [a]
    : [a, { value: draft, name: `B ${valueText(draft)}`, color: 'version-b', isDashed: false }]
}

/** Saves the draft as a new version of the template, or in the task that has a rule of its own. */
function Save({ subject, rule }: { readonly subject: Subject; readonly rule: Subject['rule'] }) {
  const [isBusy, setBusy] = useState(false)
  const { template } = subject
  if (!may(template === undefined ? 'operate' : 'author')) return null
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      if (template === undefined) {
        const before = await api.rules.tasks.conf(subject.id, 'simplified')
        await api.rules.tasks.replace(subject.id, { ...before, ...ruleOnly(rule) }, { ifRevision: subject.revision })
        done(`${subject.name} runs with the new value`)
      } else {
        const before = await api.rules.templates.get(template, 'simplified')
        const { version } = await api.rules.templates.replace(
          template,
          { ...specificationOf(before), ...ruleOnly(rule) },
          { ifRevision: before.revision, draft: !may('publish') },
        )
        const then = may('publish')
          ? 'its tasks keep theirs until they are reloaded'
          : 'it is a draft until another user publishes it'
        done(`Saved as version ${version} of ${template}; ${then}`)
      }
    } catch (thrown) {
      done(`Not saved: ${messageOf(thrown)}`)
    }
    setBusy(false)
  }
  return (
    <button type="button" class="primary" disabled={isBusy} onClick={() => void save()}>
      {template === undefined ? 'Save in the task' : `Save to ${template}`}
    </button>
  )
}

const WRITABLE = ['name', 'description', 'tags', 'taskDefaults', 'variables', 'notes', 'discoveryTemplate'] as const

/** Returns what of a stored template can be sent back. */
function specificationOf(entity: object): { readonly name: string } {
  const fields = entity as Readonly<Record<string, unknown>>
  return Object.fromEntries(WRITABLE.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]]))) as {
    readonly name: string
  }
}

interface SliderProps {
  readonly name: string
  readonly values: readonly number[]
  readonly value: number
  readonly now: number
  readonly text: string | undefined
  readonly isBusy: boolean
  readonly choices: readonly (readonly [string, string])[]
  readonly path: string
}

function Slider({ name, values, value, now, text, isBusy, choices, path }: SliderProps) {
  const at = Math.max(0, values.indexOf(value))
  const set = (next: number | undefined): void => setQuery({ value: next === now ? undefined : next })
  return (
    <div class="slider">
      <label>
        What to change
        <select value={path} onChange={(event) => setQuery({ knob: event.currentTarget.value, value: undefined })}>
          {choices.map(([one, label]) => (
            <option key={one} value={one}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label class="grow">
        {name} in the draft; now it is {valueText(now)}
        <input
          type="range"
          min={0}
          max={values.length - 1}
          value={at}
          aria-valuetext={valueText(value)}
          onInput={({ currentTarget }) => set(values[currentTarget.valueAsNumber])}
        />
      </label>
      <output>
        {valueText(value)}
        <small>
          {text ?? 'computing …'}
          {isBusy && ', comparing …'}
        </small>
      </output>
      <button type="button" class="small" disabled={value === now} onClick={() => set(undefined)}>
        As now
      </button>
    </div>
  )
}

interface FiringsProps {
  readonly answer: Rehearsal
  readonly draft: Rehearsal | undefined
  readonly limits: ReturnType<typeof limitsOf>
}

function Firings({ answer, draft, limits }: FiringsProps) {
  const { coverage, firings = [] } = answer
  const withData = (coverage?.items ?? [])
    .filter(({ messages }) => messages > 0)
    .flatMap(({ resource }) => resource ?? [])
  const [chosen, setChosen] = useState<string | undefined>()
  const resource = chosen !== undefined && withData.includes(chosen) ? chosen : withData[0]
  const item = coverage?.items.find((one) => one.resource === resource)
  const metrics = Object.keys(item?.metrics ?? {})
  const [wanted, setWanted] = useState<string | undefined>()
  const metric =
    wanted !== undefined && metrics.includes(wanted)
      ? wanted
      : (metrics.find((one) => query.value.get('knob')?.startsWith(`${one}.`)) ??
        metrics.find((one) => one === 'temperature') ??
        metrics[0])
  const from = coverage?.from ?? 0
  const until = coverage?.until ?? 1
  const points = useLoad(async () => {
    if (resource === undefined || metric === undefined) return []
    const { series } = await api.broker.series.get(resource, metric, { from, until, grouping: 'auto' })
    return series.flatMap(([time, value]) =>
      typeof time === 'number' && typeof value === 'number' ? [[time, value] as const] : [],
    )
  }, [resource, metric, from, until]).data
  const isOf = (one: { readonly resource: string | null }): boolean => one.resource === resource
  const marks = (list: readonly { readonly time: number; readonly node: string; readonly resource: string | null }[]) =>
    list.filter(isOf).map(({ time, node }) => ({ time, isQuiet: /clear/i.test(node) }))
  const rows = [
    { name: 'A now', color: 'version-a', markers: marks(firings) },
    ...(draft === undefined
      ? []
      : [
          {
            name: 'B draft',
            color: 'version-b',
            markers: [
              ...marks(draft.firings ?? []),
              ...marks(draft.comparison?.removed ?? []).map((one) => ({ ...one, isGone: true })),
            ],
          },
        ]),
  ]
  if (resource === undefined) return <p class="second">No resource had data in this range: nothing to plot.</p>
  return (
    <>
      <div class="row">
        <select
          aria-label="Resource of the plot"
          class="small"
          value={resource}
          onChange={({ currentTarget: { value } }) => setChosen(value)}
        >
          {withData.slice(0, 500).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <select
          aria-label="Metric of the plot"
          class="small"
          value={metric}
          onChange={({ currentTarget: { value } }) => setWanted(value)}
        >
          {metrics.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <SeriesPlot
        label={`${metric} of ${resource} with the limits and firings; the tables have the same facts`}
        from={from}
        until={until}
        series={[{ name: metric ?? '', points: points ?? [] }]}
        limits={limits}
        gaps={item?.gaps ?? []}
        rows={rows}
      />
    </>
  )
}

interface SweepRow {
  readonly value: number
  readonly firings: number
  readonly alarms: number
}

function SweepTable({
  rows,
  days,
  chosen,
  now,
}: {
  readonly rows: readonly SweepRow[]
  readonly days: number
  readonly chosen: number | undefined
  readonly now: number
}) {
  const most = Math.max(1, ...rows.map(({ firings }) => firings))
  return (
    <Scroll label="Firings by value">
      <table class="tight sweep">
        <thead>
          <tr>
            <th scope="col" class="num">
              Value
            </th>
            <th scope="col" class="num">
              Firings a day
            </th>
            <th scope="col">
              <span class="unseen">Bar</span>
            </th>
            <th scope="col" class="num">
              Alarms
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ value, firings, alarms }) => (
            <tr key={value} class={value === chosen ? 'chosen' : ''}>
              <td class="num">
                <button
                  type="button"
                  class="link"
                  aria-pressed={value === chosen}
                  onClick={() => setQuery({ value: value === now ? undefined : value })}
                >
                  {valueText(value)}
                </button>
                {value === now && <span class="dim"> now</span>}
              </td>
              <td class="num">{Number((firings / Math.max(days, 1e-9)).toPrecision(3))}</td>
              <td class="bar-column">
                <svg width="100%" height="10" aria-hidden="true">
                  <rect class="bar" x="0" y="1" width={`${(firings / most) * 100}%`} height="8" rx="2" />
                </svg>
              </td>
              <td class="num">{alarms}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

type Comparison = NonNullable<Rehearsal['comparison']>

function Differences({ comparison }: { readonly comparison: Comparison }) {
  const { added, removed, moved, counts } = comparison
  const all = [
    ...added.map((one) => ({ ...one, what: 'added' })),
    ...removed.map((one) => ({ ...one, what: 'removed' })),
    ...moved.map((one) => ({ ...one, what: movedText(one.by ?? 0) })),
  ].toSorted((a, b) => a.time - b.time)
  return (
    <Panel title="Firing by firing" aside={countText(all.length, 'difference')}>
      {all.length === 0 ? (
        <p class="pad second">All {counts.equal} firings are equal.</p>
      ) : (
        <Scroll label="Differences">
          <table class="tight">
            <Heads columns={['Time', 'Resource', 'Node', 'Change']} />
            <tbody>
              {all.slice(0, 200).map(({ time, resource, node, what }) => (
                <tr key={`${time} ${resource} ${node} ${what}`}>
                  <td class="nowrap">
                    <Time at={time} withSeconds />
                  </td>
                  <td>{resource}</td>
                  <td>
                    <code>{node}</code>
                  </td>
                  <td>{what}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  )
}

function FiringList({ answer, subject }: { readonly answer: Rehearsal; readonly subject: Subject }) {
  const { firings = [], counts } = answer
  return (
    <Panel title="Firing by firing" aside={counts === undefined ? '' : countText(counts.firings, 'firing')}>
      {firings.length === 0 ? (
        <p class="pad second">The rule fires nothing on this data.</p>
      ) : (
        <Scroll label="Firings">
          <table class="tight">
            <Heads columns={['Time', 'Resource', 'Node', 'From']} />
            <tbody>
              {firings.slice(0, 100).map(({ time, resource, node, source }) => (
                <tr key={`${time} ${resource} ${node}`}>
                  <td class="nowrap">
                    {subject.kind === 'task' && resource === subject.resource ? (
                      <a href={withQuery(to('tasks', subject.id), { at: time, node })}>
                        <Time at={time} withSeconds />
                      </a>
                    ) : (
                      <Time at={time} withSeconds />
                    )}
                  </td>
                  <td>{resource}</td>
                  <td>
                    <code>{node}</code>
                  </td>
                  <td>
                    <code>{source}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  )
}
