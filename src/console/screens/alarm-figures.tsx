/** Whether operators can cope with the alarms: figures after EEMUA 191, floods, and the worst sources. */
import type { AlarmFigures, AlarmGroupList } from '#services/alarms/contract'
import { now } from '../connection.ts'
import { useLoad } from '../loading.ts'
import { Answer, Empty, Heads, Panel, Problem, Scroll, Time, Waiting } from '../parts/layout.tsx'
import { Severity } from '../parts/marks.tsx'
import { done } from '../parts/undo.tsx'
import { go, query, setQuery, to, withQuery } from '../router.ts'
import { api } from '../session.ts'
import { figuresAnswer, rateText, shareText } from '../words/alarms.ts'
import { messageOf } from '../words/errors.ts'
import { lengthText } from '../words/times.ts'

const DAY = 86_400_000
const RANGES = [
  ['day', DAY],
  ['week', 7 * DAY],
  ['month', 30 * DAY],
] as const
const EVERY_MS = 60_000

export function Figures() {
  const asked = query.value.get('range')
  const [name, length] = RANGES.find(([one]) => one === asked) ?? RANGES[0]
  const { data, error, reload } = useLoad(
    async () => {
      const period = { from: new Date(now.value - length).toISOString() }
      const [figures, groups] = await Promise.all([api.alarms.figures(period), api.alarms.groups(period)])
      return { figures, groups }
    },
    [length],
    EVERY_MS,
  )
  if (data === undefined) return <Waiting error={error} retry={reload} title="Alarm figures" />
  const { figures, groups } = data
  return (
    <>
      <Answer
        title={figuresAnswer(figures, name)}
        more="Limits after EEMUA 191: an operator copes with one alarm in ten minutes; more than ten are a flood."
      >
        <div class="segments" role="group" aria-label="Period">
          {RANGES.map(([one]) => (
            <button type="button" key={one} aria-pressed={one === name} onClick={() => setQuery({ range: one })}>
              {one}
            </button>
          ))}
        </div>
      </Answer>
      <Problem text={error} retry={reload} />
      <div class="split">
        <div class="stack">
          <Worst figures={figures} />
          <Groups groups={groups} />
        </div>
        <Numbers figures={figures} />
      </div>
    </>
  )
}

function Numbers({ figures }: { readonly figures: AlarmFigures }) {
  const { perTenMinutes, perDay, peak, flood, held, topShare, chattering, standing, stale } = figures
  const rows: readonly (readonly [string, string])[] = [
    ['In ten minutes', rateText(perTenMinutes)],
    ['A day', rateText(perDay)],
    ['Peak in ten minutes', rateText(peak.perOperator)],
    ['Floods', `${flood.count}, ${shareText(flood.share)} of the time`],
    ['Held back', String(held)],
    ['Share of the worst ten', shareText(topShare)],
    ['Chattering', String(chattering.count)],
    ['Standing', String(standing)],
    ['Standing for over a day', String(stale.count)],
  ]
  return (
    <Panel as="aside" title="Figures" aside="per operator">
      <dl class="facts pad">
        {rows.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      {stale.alarms.length > 0 && (
        <ul class="items">
          {stale.alarms.map(({ id, source, type, since }) => (
            <li key={id}>
              <a class="item" href={to('alarms', id)}>
                {source} · {type} <small class="dim">{lengthText(now.value - Date.parse(since))}</small>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

const WORST_HEADS = ['Source', 'Type', ['Alarms', 'number'], ['Share', 'number'], 'Rule'] as const

function Worst({ figures: { top, chattering } }: { readonly figures: AlarmFigures }) {
  const isChattering = new Set(chattering.alarms.map(({ source, type }) => JSON.stringify([source, type])))
  if (top.length === 0)
    return (
      <Panel title="Most alarms">
        <Empty title="No alarm was raised in this period" />
      </Panel>
    )
  return (
    <Panel title="Most alarms">
      <Scroll label="Most alarms">
        <table class="tight">
          <Heads columns={WORST_HEADS} />
          <tbody>
            {top.map(({ source, type, alarms, share }) => (
              <tr key={`${source} ${type}`}>
                <td>
                  <a href={to('resources', source)}>{source}</a>
                </td>
                <td>
                  {type}
                  {isChattering.has(JSON.stringify([source, type])) && <span class="dim"> chattering</span>}
                </td>
                <td class="number">{alarms.toLocaleString('en')}</td>
                <td class="number">{shareText(share)}</td>
                <td>
                  <button type="button" class="small" onClick={() => void sweep(source, type)}>
                    Rehearse
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}

/** Goes to a rehearsal of the rule that raised the last such alarm. */
async function sweep(source: string, type: string): Promise<void> {
  try {
    const { alarms } = await api.alarms.list({ source, type: [type], size: 1, history: false })
    const [last] = alarms
    const cause = last && (await api.alarms.why(last.id)).cause
    if (!cause) done(`No rule raised ${type} of ${source}`)
    else go(withQuery(to('rehearsal'), { task: cause.task }))
  } catch (thrown) {
    done(messageOf(thrown))
  }
}

const GROUP_HEADS = ['Begin', 'First alarm', ['Alarms', 'number'], 'Joined by'] as const
const WORDS = { rule: 'the same rule', tree: 'the resource tree', time: 'time' } as const

function Groups({ groups: { total, groups } }: { readonly groups: AlarmGroupList }) {
  const several = groups.filter(({ alarms }) => alarms > 1)
  if (several.length === 0) return null
  return (
    <Panel title="Alarms that came together" aside={`${several.length} of ${total} groups`}>
      <Scroll label="Groups of alarms">
        <table class="tight">
          <Heads columns={GROUP_HEADS} />
          <tbody>
            {several.map(({ group, source, type, from, severity, alarms, by }) => (
              <tr key={group}>
                <td>
                  <Time at={Date.parse(from)} />
                </td>
                <td>
                  <Severity of={severity} isQuiet />{' '}
                  <a href={to('alarms', group)}>
                    {source} · {type}
                  </a>
                </td>
                <td class="number">{alarms.toLocaleString('en')}</td>
                <td>
                  {(['rule', 'tree', 'time'] as const)
                    .filter((one) => by[one] > 0)
                    .map((one) => `${WORDS[one]} (${by[one]})`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}
