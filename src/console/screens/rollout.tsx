/** One roll-out: each firing that differs with its reason, and the buttons that promote it and take it back. */
import { useState } from 'preact/hooks'
import type { Rollout, RolloutPreview } from '#services/rules/contract'
import { useLoad } from '../loading.ts'
import { CopyRequest } from '../parts/copy.tsx'
import { Answer, Empty, Heads, Panel, Problem, Scroll, Time, Waiting } from '../parts/layout.tsx'
import { done } from '../parts/undo.tsx'
import { to, withQuery } from '../router.ts'
import { api, may } from '../session.ts'
import { messageOf } from '../words/errors.ts'
import { countText } from '../words/numbers.ts'
import { movedText } from '../words/rehearsal.ts'
import { canRollBack, isRunning, rolloutAnswer, tasksText } from '../words/rollout.ts'

const REFRESH_MS = 2_000

export function OneRollout({ template, id }: { readonly template: string; readonly id: string }) {
  const { data, error, reload } = useLoad(() => api.rules.rollouts.get(template, id), [template, id], REFRESH_MS)
  if (data === undefined) return <Waiting title="How does the version differ?" error={error} retry={reload} />
  const { reason, notice, note, comparison } = data
  const more = [tasksText(data), reason, notice, note].filter((text) => text !== undefined).join('. ')
  return (
    <>
      <Answer title={rolloutAnswer(data)} more={more}>
        <CopyRequest method="GET" path={`/api/templates/${encodeURIComponent(template)}/rollouts/${id}`} done={done} />
        <a class="button" href={withQuery(to('rollouts'), { template })}>
          All roll-outs
        </a>
      </Answer>
      <Problem text={error} retry={reload} />
      <div class="stack">
        <Ends rollout={data} ended={reload} />
        <Panel title="Firings by node" aside={`${comparison.day.alarms} alarms in 24 hours`}>
          {comparison.nodes.length === 0 ? (
            <Empty title="No firing yet">
              <p>Both versions run on the same readings. Firings appear here as they happen.</p>
            </Empty>
          ) : (
            <Scroll label="Firings by node">
              <table>
                <Heads
                  columns={['Node', ['Equal', 'num'], ['Only new', 'num'], ['Only former', 'num'], ['Moved', 'num']]}
                />
                <tbody>
                  {comparison.nodes.map((one) => (
                    <tr key={one.node}>
                      <td>{one.node}</td>
                      <td class="num">{one.equal}</td>
                      <td class="num">{one.onlyNew}</td>
                      <td class="num">{one.onlyOld}</td>
                      <td class="num">{one.moved}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </Panel>
        <Divergence rollout={data} />
      </div>
    </>
  )
}

function Divergence({ rollout: { comparison } }: { readonly rollout: Rollout }) {
  const all = [
    ...comparison.added.map((one) => ({ ...one, kind: 'only new' })),
    ...comparison.removed.map((one) => ({ ...one, kind: 'only former' })),
    ...comparison.moved.map((one) => ({ ...one, kind: movedText(one.by ?? 0) })),
  ].toSorted((a, b) => b.time - a.time)
  if (all.length === 0) return null
  return (
    <Panel title="What differs, and why" aside={countText(all.length, 'firing')}>
      <Scroll label="What differs, and why">
        <table>
          <Heads columns={['Time', 'Resource', 'Firing', 'Difference', 'Why']} />
          <tbody>
            {all.map((one, index) => (
              <tr key={index}>
                <td>
                  <Time at={one.time} withSeconds />
                </td>
                <td>{one.resource ?? ''}</td>
                <td>
                  {(one.firing ?? one.other)?.source} → {one.node}
                </td>
                <td>{one.kind}</td>
                <td class="second">{whyText(one.firing ?? one.other)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  )
}

/** Returns the states that fired it, and what stopped the other version. */
function whyText(firing: NonNullable<Rollout['comparison']['added'][number]['firing']> | undefined): string {
  const states = firing?.why?.sensors.map(({ node, state }) => `${node} is ${String(state)}`) ?? []
  const blocked = firing?.other?.flatMap(({ blocked: reasons }) => reasons.map(({ message }) => message)) ?? []
  const other = blocked[0] === undefined ? [] : [`the other version: ${blocked[0]}`]
  return [states.join(', '), ...other].filter(Boolean).join('; ')
}

function Ends({ rollout, ended }: { readonly rollout: Rollout; ended(): void }) {
  const { template, id, mode, status } = rollout
  const [preview, setPreview] = useState<{ readonly how: How; readonly lost: RolloutPreview } | undefined>()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const rollouts = api.rules.rollouts
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setProblem(undefined)
    await work().catch((thrown: unknown) => setProblem(messageOf(thrown)))
    setBusy(false)
  }
  const ask = (how: How) =>
    attempt(async () => {
      const see = how === 'promote' ? rollouts.previewPromote : rollouts.previewRollback
      setPreview({ how, lost: await see(template, id) })
    })
  const carryOut = (how: How) =>
    attempt(async () => {
      await rollouts[how](template, id)
      done(how === 'promote' ? `Version ${rollout.version} of ${template} is live` : `${template} is as it was before`)
      setPreview(undefined)
      ended()
    })
  const mayPromote = may('publish') && isRunning(rollout)
  const mayRollBack =
    canRollBack(rollout) && (may('publish') || (mode === 'shadow' && may('author') && isRunning(rollout)))
  if (!mayPromote && !mayRollBack) return <Problem text={problem} />
  const path = `/api/templates/${encodeURIComponent(template)}/rollouts/${id}`
  return (
    <Panel
      title="What to do"
      aside={<CopyRequest method="POST" path={`${path}/${mayPromote ? 'promote' : 'rollback'}`} done={done} />}
    >
      <div class="pad stack">
        <div class="row">
          {mayPromote && (
            <button type="button" class="primary" disabled={isBusy} onClick={() => void ask('promote')}>
              Promote
            </button>
          )}
          {mayRollBack && (
            <button type="button" disabled={isBusy} onClick={() => void ask('rollback')}>
              {mode === 'shadow' && status !== 'promoted' ? 'End the shadow' : 'Roll back'}
            </button>
          )}
        </div>
        <Problem text={problem} />
        {preview !== undefined && (
          <div role="status">
            <p>{lossText(preview.lost)}</p>
            <div class="row">
              <button type="button" class="primary" disabled={isBusy} onClick={() => void carryOut(preview.how)}>
                {preview.how === 'promote' ? 'Promote now' : 'Do it now'}
              </button>
              <button type="button" class="quiet" onClick={() => setPreview(undefined)}>
                Not now
              </button>
            </div>
          </div>
        )}
      </div>
    </Panel>
  )
}

type How = 'promote' | 'rollback'

function lossText({ total, tasks }: RolloutPreview): string {
  const lost = new Map<string, number>()
  for (const { lost: losses = [] } of tasks)
    for (const { node, what } of losses)
      lost.set(`${node} loses ${what.join(', ')}`, (lost.get(`${node} loses ${what.join(', ')}`) ?? 0) + 1)
  const parts = [...lost].map(([text, count]) => `${text} in ${countText(count, 'task')}`)
  return `${countText(total, 'task')} would move. ${parts.length === 0 ? 'No state is lost.' : `${parts.join('; ')}.`}`
}
