/** The course of a task: its main metric, the states of its nodes, its firings, and a slider over its kept inputs. */
import { useMemo } from 'preact/hooks'
import type { TaskEntity } from '#services/rules/contract'
import { past, showAt } from '../instant.ts'
import { useKeys } from '../keys.ts'
import { useLoad } from '../loading.ts'
import type { RuleView } from '../graph/rule-view.ts'
import { Icon } from '../parts/icons.tsx'
import { Panel } from '../parts/layout.tsx'
import { changesOf } from '../plot/bands.ts'
import { Lanes } from '../plot/lanes.tsx'
import { lanesOf, measuredBy } from '../plot/rule-lanes.ts'
import { setQuery } from '../router.ts'
import { api } from '../session.ts'
import { zone } from '../settings.ts'
import { type Course, RANGE_NAMES, type ShownRange } from './task-course.ts'

export interface TaskDayProps {
  readonly task: TaskEntity
  readonly rule: RuleView
  /** when a held trigger may fire again, epoch ms; Infinity: none is held */
  readonly next: number
  readonly keptSince: number | undefined
  readonly range: ShownRange
  readonly course: Course | undefined
}

export function TaskDay({ task, rule, next, keptSince, range, course }: TaskDayProps) {
  const { name, from, until, end } = range
  const { value: at } = past
  const main = rule.nodes.map(measuredBy).find((one) => one !== undefined)
  const { resource } = task
  const series = useLoad(
    async () =>
      resource === undefined || main === undefined
        ? []
        : pointsOf((await api.broker.series.get(resource, main.metric, { from, until, grouping: 'auto' })).series),
    [resource, main?.metric, from, until],
  ).data
  const fired =
    useLoad(async () => firingsOf(await api.rules.inspection.deliveries(task.ID, { limit: 100 })), [task.ID, end])
      .data ?? []
  const changes = useMemo(() => {
    const times = [...(course === undefined ? [] : changesOf(course.bands)), ...fired.map(({ time }) => time)]
    return [...new Set(times)].filter((time) => time >= from && time <= until).sort((a, b) => a - b)
  }, [course, fired, from, until])
  const step = (direction: -1 | 1): void => {
    const shown = at ?? until
    const next = direction < 0 ? changes.findLast((time) => time < shown - 1) : changes.find((time) => time > shown + 1)
    if (next !== undefined) showAt(next)
    else if (direction > 0) showAt(null)
  }
  useKeys([
    { keys: '[', does: 'previous change', run: () => step(-1) },
    { keys: ']', does: 'next change', run: () => step(1) },
  ])
  return (
    <Panel
      title="Course"
      aside={
        <div class="scrub">
          <button type="button" class="small square" aria-label="Previous change" onClick={() => step(-1)}>
            <Icon name="back" size={14} />
          </button>
          <input
            type="range"
            aria-label="Instant shown"
            min={Math.round(Math.max(from, keptSince ?? from))}
            max={Math.round(until)}
            step={1_000}
            value={Math.round(at ?? until)}
            onInput={({ currentTarget: { valueAsNumber } }) =>
              showAt(valueAsNumber >= until - 1_000 && at === null ? null : valueAsNumber)
            }
          />
          <button type="button" class="small square" aria-label="Next change" onClick={() => step(1)}>
            <Icon name="forward" size={14} />
          </button>
          <button type="button" class="small" aria-pressed={at === null} onClick={() => showAt(null)}>
            Live
          </button>
          <select
            aria-label="Range"
            class="small"
            value={name}
            onChange={({ currentTarget: { value } }) => setQuery({ range: value })}
          >
            {RANGE_NAMES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </div>
      }
    >
      <div class="pad">
        <Lanes
          from={from}
          until={until}
          zone={zone.value}
          series={series ?? []}
          metric={main?.metric ?? ''}
          limit={main?.limit}
          lanes={lanesOf(rule, course?.bands)}
          knownUntil={course?.knownUntil ?? from}
          firings={fired.filter(({ time }) => time >= from && time <= until)}
          next={Number.isFinite(next) ? next : undefined}
          at={at}
          onPick={showAt}
        />
        <CourseNote course={course} keptSince={keptSince} />
      </div>
    </Panel>
  )
}

function CourseNote({
  course,
  keptSince,
}: {
  readonly course: Course | undefined
  readonly keptSince: number | undefined
}) {
  if (course?.error !== undefined) return <p class="dim">The states over time could not be computed: {course.error}</p>
  if (course === undefined) return <p class="dim">Computing the states over time from the stored data …</p>
  return keptSince === undefined ? (
    <p class="dim">Inputs are not kept for this task, so the past cannot be shown.</p>
  ) : null
}

function pointsOf(series: unknown): readonly (readonly [number, number])[] {
  if (!Array.isArray(series)) return []
  return (series as readonly (readonly unknown[])[]).flatMap(([time, value]) =>
    typeof time === 'number' && typeof value === 'number' ? [[time, value] as const] : [],
  )
}

interface Called {
  readonly node: string
  readonly createTime: number
  readonly plug: string
}

function firingsOf(answer: { readonly values: readonly Called[] }) {
  return answer.values.map(({ node, createTime, plug }) => ({ time: createTime, node, isQuiet: /clear/i.test(plug) }))
}
