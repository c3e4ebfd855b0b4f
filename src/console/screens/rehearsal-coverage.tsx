/** The data on which a rehearsal stands: how much of it each resource had, and its gaps. */
import { useState } from 'preact/hooks'
import type { Rehearsal } from '#services/rules/contract'
import { Heads, Panel, Scroll, Time } from '../parts/layout.tsx'
import { lengthText } from '../words/times.ts'

const MOST_ROWS = 6

export function Coverage({ answer }: { readonly answer: Rehearsal }) {
  const [isWhole, setWhole] = useState(false)
  const { coverage } = answer
  if (coverage === undefined) return null
  const { items, from, until, missingMetrics } = coverage
  const shown = isWhole ? items.slice(0, 200) : items.slice(0, MOST_ROWS)
  const share = (time: number): number => ((time - from) / (until - from)) * 100
  return (
    <Panel
      title="Coverage"
      aside={
        <>
          <Time at={from} /> to <Time at={until} />
        </>
      }
    >
      {missingMetrics.length > 0 && (
        <p class="pad bad">The rule reads {missingMetrics.join(', ')}, which none of the resources has.</p>
      )}
      <Scroll label="Coverage">
        <table class="tight">
          <Heads columns={['Resource', ['Messages', 'num'], ['Data', 'cover-column'], ['Gaps', 'hide-phone']]} />
          <tbody>
            {shown.map((item) => (
              <tr key={item.resource}>
                <td>
                  <code>{item.resource ?? 'the rule names its resources'}</code>
                </td>
                <td class="num">{item.messages.toLocaleString('en')}</td>
                <td>
                  <svg class="coverage" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="frame" x="0" y="0" width="100" height="8" />
                    {item.from !== null && item.until !== null && (
                      <rect
                        class="have"
                        x={share(item.from)}
                        y="0"
                        width={Math.max(0.5, share(item.until) - share(item.from))}
                        height="8"
                      />
                    )}
                    {item.gaps.map((gap) => (
                      <rect
                        key={gap.from}
                        class="gap"
                        x={share(gap.from)}
                        y="0"
                        width={share(gap.until) - share(gap.from)}
                        height="8"
                      />
                    ))}
                  </svg>
                </td>
                <td class="hide-phone">
                  {item.messages === 0
                    ? 'no data in this range'
                    : item.gaps.length === 0
                      ? 'none'
                      : item.gaps.slice(0, 2).map((gap) => (
                          <div key={gap.from}>
                            <Time at={gap.from} />, {lengthText(gap.until - gap.from)}
                          </div>
                        ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {items.length > MOST_ROWS && (
        <div class="more">
          <span>{isWhole ? '' : `${items.length - MOST_ROWS} more; those without data come first`}</span>
          <button type="button" class="small" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Fewer' : 'All'}
          </button>
        </div>
      )}
    </Panel>
  )
}
