/** The list of tasks. */
import { useState } from 'preact/hooks'
import type { TaskEntity } from '#services/rules/contract'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { Age, Answer, Empty, Heads, Pager, Panel, Problem, Scroll } from '../parts/layout.tsx'
import { MatchMark } from '../parts/marks.tsx'
import { query, setQuery, to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { countText } from '../words/numbers.ts'
import { healthText } from '../words/task.ts'

const PAGE = 50
const STATUSES = ['', 'running', 'stopped', 'failed', 'finished'] as const

export function tasksAnswer(total: number, bad: number, filter: string): string {
  if (total === 0) return filter === '' ? 'No task runs a rule yet' : 'No task matches the filter'
  if (bad === 0)
    return filter === ''
      ? `${countText(total, 'task')}, and none of them needs a look`
      : `${countText(total, 'task')} of the filter`
  return `${countText(bad, 'task')} of ${total.toLocaleString('en')} ${bad === 1 ? 'needs' : 'need'} a look`
}

export function isBad(task: TaskEntity): boolean {
  return task.status === 'failed' || healthText(task.health) !== undefined
}

export function TaskList() {
  const filter = query.value.get('filter') ?? ''
  const status = query.value.get('status') ?? ''
  const [start, setStart] = useState(0)
  const { data, error, reload } = useLoad(
    () =>
      api.rules.tasks.list(
        {
          where: { ...(filter !== '' && { filter }), ...(status !== '' && { status: status as TaskEntity['status'] }) },
          hits: PAGE,
          startIndex: start,
        },
        { format: 'simplified', includeHealth: true, withoutGraph: true },
      ),
    [filter, status, start],
    5_000,
  )
  const tasks = data?.values ?? []
  const total = data?.total ?? 0
  const title = data === undefined ? 'Tasks' : tasksAnswer(total, tasks.filter(isBad).length, filter + status)
  return (
    <>
      <Answer title={title} more="A task is a rule at work on its resources.">
        {may('author') && (
          <a class="button" href={to('editor')}>
            New rule
          </a>
        )}
      </Answer>
      <Problem text={error} retry={reload} />
      <Panel title="Tasks" aside={data === undefined ? '' : countText(total, 'task')}>
        <div class="filter">
          <input
            type="search"
            aria-label="Filter by name, resource or template"
            placeholder="Name, resource or template"
            value={filter}
            onInput={({ currentTarget: { value } }) => (
              setStart(0),
              setQuery({ filter: value === '' ? undefined : value })
            )}
          />
          <select
            aria-label="Status"
            value={status}
            onChange={({ currentTarget: { value } }) => (
              setStart(0),
              setQuery({ status: value === '' ? undefined : value })
            )}
          >
            {STATUSES.map((one) => (
              <option key={one} value={one}>
                {one === '' ? 'any status' : one}
              </option>
            ))}
          </select>
        </div>
        {data !== undefined && tasks.length === 0 ? (
          <Empty title={filter + status === '' ? 'No task yet' : 'No task matches'}>
            <p>
              {filter + status === ''
                ? 'A task watches a resource by a rule. Write a rule in the editor, rehearse it on stored data, then start it as a task.'
                : 'Shorten the filter, or choose another status.'}
            </p>
          </Empty>
        ) : (
          <Scroll label="Tasks">
            <table>
              <Heads
                columns={[
                  'Task',
                  ['Resource', 'hide-phone'],
                  ['Template', 'hide-phone'],
                  'Status',
                  ['Inputs', 'num hide-phone'],
                  ['Last input', 'num'],
                ]}
              />
              <tbody>
                {tasks.map((task) => (
                  <Row key={task.ID} task={task} />
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
        <Pager start={start} page={PAGE} total={total} turn={setStart} />
      </Panel>
    </>
  )
}

function Row({ task }: { readonly task: TaskEntity }) {
  const { ID, name, resource, template, status, lastExecutionTime, invocationCount } = task
  const trouble = healthText(task.health) ?? task.error
  return (
    <tr>
      <td>
        <a href={to('tasks', ID)}>{name}</a>
        {resource !== undefined && <div class="dim show-phone">{resource}</div>}
      </td>
      <td class="hide-phone">
        {resource === undefined ? <span class="dim">none</span> : <a href={to('resources', resource)}>{resource}</a>}
      </td>
      <td class="hide-phone">
        {template === undefined ? (
          <span class="dim">own rule</span>
        ) : (
          <a href={withQuery(to('editor'), { template })}>{template}</a>
        )}
      </td>
      <td>
        <span class={`state${status === 'failed' ? ' bad' : ''}`}>
          <MatchMark match={status === 'running' ? 'match' : status === 'failed' ? 'unknown' : 'no match'} />
          {status}
        </span>
        {trouble !== undefined && <div class="bad">{trouble}</div>}
      </td>
      <td class="num hide-phone">{invocationCount.toLocaleString('en')}</td>
      <td class="num nowrap">
        {lastExecutionTime === undefined ? (
          <span class="dim">never</span>
        ) : lastExecutionTime > now.value ? (
          '0 s'
        ) : (
          <Age at={lastExecutionTime} />
        )}
      </td>
    </tr>
  )
}
