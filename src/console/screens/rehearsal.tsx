/** x */
import { Answer } from '../parts/layout.tsx'
export function Rehearsals() {
  return <Answer title="Rehearsals" />
}
