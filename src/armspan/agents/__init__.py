"""Agents: a policy plus what it has learnt, ready to be embedded in an application."""

from armspan.agents.agent import Agent
from armspan.agents.answers import ArmKnowledge, Decision, Decisions, Exploration, Scores
from armspan.agents.diary import Diary
from armspan.agents.explanation import Evidence, Explanation
from armspan.agents.family_agent import FamilyAgent
from armspan.agents.lineage import Delta
from armspan.agents.policy_agent import FamilySettings, PolicyAgent
from armspan.agents.reference_agent import ReferenceAgent
from armspan.agents.settings import Settings
from armspan.agents.state import Statistics

__all__ = [
    "Agent",
    "ArmKnowledge",
    "Decision",
    "Decisions",
    "Delta",
    "Diary",
    "Evidence",
    "Explanation",
    "Exploration",
    "FamilyAgent",
    "FamilySettings",
    "PolicyAgent",
    "ReferenceAgent",
    "Scores",
    "Settings",
    "Statistics",
]
