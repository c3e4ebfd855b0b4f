/** The legend of states. */
import { MatchMark } from '../parts/marks.tsx'

export function StateLegend() {
  return (
    <p class="legend">
      {(['match', 'no match', 'unknown'] as const).map((match) => (
        <span key={match}>
          <MatchMark match={match} /> {match}
        </span>
      ))}
    </p>
  )
}
