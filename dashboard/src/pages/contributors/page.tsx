import { LeaderboardPanel } from './leaderboard-panel.tsx'
import { ProfileSheet } from './profile-sheet.tsx'
import { RegisterContributor } from './register-dialog.tsx'

/** Who submits signals, and how good they are. */
export const Page = () => (
  <div className="grid gap-3">
    <LeaderboardPanel />
    <ProfileSheet />
    <RegisterContributor />
  </div>
)
