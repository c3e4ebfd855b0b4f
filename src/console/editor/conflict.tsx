/** Two users changed a template: the base, theirs and yours, what differs, and a merge in which no side is overwritten unseen. */
import { useState } from 'preact/hooks'
import { RuleGraph } from '../graph/rule-graph.tsx'
import { readRule } from '../graph/rule-view.ts'
import { Heads, Panel, Scroll, Time } from '../parts/layout.tsx'
import { zone } from '../settings.ts'
import { now } from '../connection.ts'
import { conflictAnswer } from '../words/editor.ts'
import { cut, valueText } from '../words/numbers.ts'
import { differences, merged, nodesOf, type Side } from './three-way.ts'
import type { Json } from './rule-edits.ts'

export interface Theirs {
  readonly json: Json
  readonly version: number
  readonly user: string
  readonly time: number
}

export interface ConflictProps {
  readonly base: Json
  readonly theirs: Theirs
  readonly yours: Json
  /** takes the merged rule as the draft on top of their version */
  take(rule: Json): void
  onClose(): void
}

const COLUMNS = [
  ['base', 'Before'],
  ['theirs', 'Theirs'],
  ['yours', 'Yours'],
] as const

export function Conflict({ base, theirs, yours, take, onClose }: ConflictProps) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Side>>(new Map())
  const list = differences(base, theirs.json, yours)
  const conflicts = list.filter(({ changedBy }) => changedBy === 'both')
  const open = conflicts.filter(({ path }) => !chosen.has(path)).length
  const rules = { base, theirs: theirs.json, yours }
  return (
    <Panel
      title={conflictAnswer(list.length, conflicts.length)}
      aside={
        <>
          version {theirs.version} by {theirs.user}, <Time at={theirs.time} />
        </>
      }
    >
      <div class="thirds pad">
        {COLUMNS.map(([side, title]) => (
          <figure key={side}>
            <figcaption>{title}</figcaption>
            <div class="graph-frame">
              <RuleGraph
                rule={readRule(rules[side])}
                states={new Map()}
                instant={now.value}
                zone={zone.value}
                isNarrow={false}
                problems={side === 'base' ? new Map() : nodesOf(list, side)}
                onSelect={() => {}}
              />
            </div>
          </figure>
        ))}
      </div>
      <Scroll label="Differences">
        <table class="tight">
          <Heads columns={['Place', 'Before', 'Theirs', 'Yours', 'Taken']} />
          <tbody>
            {list.map(({ path, base: before, theirs: their, yours: your, changedBy }) => (
              <tr key={path}>
                <td>
                  <code>{path}</code>
                </td>
                {[before, their, your].map((value, index) => (
                  <td key={index}>
                    {value === undefined ? <span class="dim">absent</span> : cut(valueText(value), 200)}
                  </td>
                ))}
                <td class="nowrap">
                  {changedBy !== 'both' ? (
                    changedBy
                  ) : (
                    <span class="row" role="group" aria-label={`Take for ${path}`}>
                      {(['theirs', 'yours'] as const).map((side) => (
                        <button
                          type="button"
                          class="small"
                          key={side}
                          aria-pressed={chosen.get(path) === side}
                          onClick={() => setChosen(new Map(chosen).set(path, side))}
                        >
                          {side}
                        </button>
                      ))}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <div class="pad row">
        <button
          type="button"
          class="primary"
          aria-disabled={open > 0}
          title={open > 0 ? 'Choose a side in each conflict first' : undefined}
          onClick={() => open === 0 && take(merged(base, theirs.json, yours, chosen))}
        >
          Continue with the merge
        </button>
        <button type="button" onClick={() => take(theirs.json)}>
          Take all of theirs
        </button>
        <button type="button" class="quiet" onClick={onClose}>
          Decide later
        </button>
      </div>
    </Panel>
  )
}
